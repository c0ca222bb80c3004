// Package yamldoc reads YAML documents as nodes, for those who report problems
// by line and column.
//
// The parser behind it is not ours, and what people write is any bytes: whatever
// it does to a file, a panic too, is a problem of that file and never of the
// process. The package keeps no state.
package yamldoc
