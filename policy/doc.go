// Package policy turns what operators write into what an engine decides by.
//
// Two formats are read, Envoy's descriptors and Weir's own policies; both
// compile to a Set of Rules. A Set is immutable and safe for concurrent use:
// a reload makes a new one and swaps it in. Resolving a request against a Set
// gives a Plan, the charges to make, and allocates nothing once its Plan has
// been used.
//
//	file -> ParseEnvoy | ParseNative -> File -> Compile -> Set -> Resolve -> Plan
//
// The package is pure: it reads bytes it is given, knows no file system, no
// clock and no network. Every problem it finds has a position and, where it
// can, a hint.
package policy
