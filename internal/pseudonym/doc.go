// Package pseudonym gives personal values other names: an address, a user or an
// API key becomes a keyed digest before it becomes part of a counter's key.
//
// # Names
//
// A [Ring] holds salts. Each is in force from an instant on, until the next one
// is. A pseudonym is the first 16 bytes of HMAC-SHA-256 of a dimension's name, a
// zero byte and its value, under a salt, in base64url: 22 characters. Whoever
// has the salt can try values until one fits; whoever has not, cannot.
//
// A counter must stay in its slot of a Redis Cluster whatever it is called, so
// its hash tag comes from a secret that never changes: 12 bits, which thousands
// of values share.
//
// # Rotation
//
// A counter has one name before a rotation and another one after it, and must
// count on. Around the instant T at which a salt follows another it therefore
// has two; see weir.Twinning for what a store does with them. D is the overlap:
// how far the clocks of two nodes may be apart.
//
//	     T-D        T          T+D           T+2D+horizon
//	-----+----------+----------+-------------+------------>
//	 old | old, new | new, old | new, old    | new
//	     | TwinNext | TwinLast | TwinOld     |
//
// Two nodes are never more than one phase apart, and neighbouring phases agree
// on which of the two names holds what was counted last. horizon is how long a
// state of that counter can matter: by the end what is still under its old name
// is of no consequence, by the clock of any node. docs/adr/0006 has the argument.
//
// # Use
//
// A Ring is immutable and safe for concurrent use. A [Hasher] is not; it keeps
// what is costly to make, and allocates nothing once it has it. Neither can
// fail. The package reads no clock, no file and no randomness.
package pseudonym
