// Package algo is the arithmetic of rate limiting: pure functions from a
// state, an instant and a cost to a new state and an outcome. There is no
// clock, no I/O, no allocation in the steady state, and nothing here blocks.
//
// Four machines run the seven algorithms. Their published worst cases, for a
// limit of L units per window W and a burst B:
//
//	gcra, token_bucket  in every interval of length T, at most B + L*T/W units;
//	                    demand above supply is used to within one unit, if B is
//	                    at least 1 + the units that come in a microsecond
//	leaky_bucket        releases (admission + delay) at most 1 + L*T/W units of
//	                    cost 1 in every interval, and never delays past B*W/L
//	fixed_window        at most L in a window of the clock, 2L across its edge
//	sliding_window      at most L + ceil(L/16) - 1 in every window of length W,
//	                    exactly L when L <= 16; saturating demand gets at least L
//	sliding_log         at most L in every window of length W
//	concurrency         at most L at a time
//
// # What a state means
//
// A state says what was consumed, never when it will be free: it survives a
// change of limit. Raising a limit frees the difference at once, lowering it
// frees nothing. The units a bucket drains at the new rate count from the
// last whole unit it drained.
//
// Instants never go back: a state remembers the latest at which it was changed,
// and an earlier one is read as that. A clock that jumps ahead and returns
// therefore creates nothing, and freezes what it touched until it has caught up.
//
// A refund takes the latest units. One that means an earlier unit leaves the
// bounds as they are for what was charged, not for what was not refunded.
//
// # Exactness
//
// Every intermediate stays below 2^53, so that redisstore's script computes
// the same in float64; the vectors in testdata are run by both. Functions take
// *State and change it in place; a State is not safe for concurrent use.
package algo
