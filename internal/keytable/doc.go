// Package keytable is a bounded table of records by the names of counters: what
// a process knows of a key besides what the store holds.
//
// A record is found by an ID, 128 bits made of the key with secrets of the
// process, so that the table holds no strings, no pointers and no byte that a
// caller chose. Two keys share an ID by chance alone, once in 10^27 tables of a
// million keys, and nobody can look for two that do.
//
// The table never grows above what New was told. A full one gives up the record
// that was not used for longest, as well as a clock's hand can tell: nothing may
// be kept here that must not be forgotten.
//
// A Table is safe for concurrent use; its records are touched between Lock and
// Unlock of their shard. Nothing here can fail.
package keytable
