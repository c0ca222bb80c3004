// Package oracle decides rate limits the naive way, to check package algo by.
//
// It is written from the published definitions and shares no code with algo:
// instants are rational numbers of math/big, logs are lists of raw timestamps,
// and nothing is prepared, packed, merged or bounded to 53 bits. Where algo
// keeps a count and an instant, the bucket here keeps the textbook's
// theoretical arrival time; where algo keeps runs, the log here keeps every
// charge.
//
// A [Counter] is one key under one limit. [Decide] and [Settle] answer what
// the functions of the same name in algo should. [Rolling] is no counter but a
// judge: it holds what was admitted and says how much of it lies in a window,
// for sliding windows that are allowed to differ from the exact log.
//
// What is not defined by a textbook is defined here in the words of weir's
// documentation: an instant before the latest one at which something was in
// use is read as that; a state survives a change of limit as units in use; a
// refund takes the latest units first.
//
// It is for tests only. It allocates freely, is slow, panics on a limit that
// is invalid, and a Counter is not safe for concurrent use.
package oracle
