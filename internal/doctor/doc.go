// Package doctor judges a Redis by what was seen of it: whether Weir's limits
// hold there, and what to change where they do not.
//
//	redisstore.Inspect -> Facts -> Judge -> []Finding -> weir doctor, weir serve
//
// It is pure. Facts are what somebody else gathered, and a fact that could not
// be had is absent, never guessed: what depends on it is [Unknown], with how to
// find out. So every judgement is a line of a table in the tests, also those on
// servers that nobody has at hand, and the server's own warning cannot differ
// from what the command says.
//
// A finding fails when limits would not hold, or requests not be decided, as
// things are or as soon as something ordinary happens (memory runs full, a
// primary is lost). It warns when that costs more than it must.
//
// Functions are safe for concurrent use as long as nobody changes the facts.
package doctor
