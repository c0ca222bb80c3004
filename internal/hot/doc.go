// Package hot finds the keys that are asked for most, in bounded memory: the
// SpaceSaving sketch of Metwally, Agrawal and El Abbadi, with counts that are
// halved every second so that they tell rates.
//
// A sketch of c counters that has counted N, halvings included, holds every key
// that was counted more than N/c, and its estimate of a key is too high by at
// most N/c and never too low. [Counter.Error] is the bound for one counter, often
// smaller: what is told as at least so much is at least so much.
//
// A Sketch is not safe for concurrent use. It takes instants as arguments and
// cannot fail. An update costs a search, and for the rarer keys a few swaps: the
// counters are a heap with the smallest on top.
package hot
