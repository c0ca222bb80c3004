// Package saltfile reads, writes and follows the file of salts that a fleet
// shares: what package pseudonym makes its names with.
//
//	overlap: 1m            # how far the clocks of two instances may be apart
//	retention: 31d         # the longest window of a limit by a private value
//	slots: <32 bytes in base64>
//	salts:
//	  - id: 20261115-3fa2
//	    from: 2026-11-15T12:00:00Z
//	    salt: <32 bytes in base64>
//
// Reading is strict: what is misspelt, twice there or of the wrong length is an
// error that names file and line and never repeats a secret. A file is written
// whole, beside the old one, and renamed into its place.
//
// A followed file that is wrong, or that would reset counters, is refused, and
// the last good one stays in force. All functions are safe for concurrent use on
// different files; [Write] does not lock against another writer.
package saltfile
