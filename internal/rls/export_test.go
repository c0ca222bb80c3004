package rls

// RateOf is rateOf, for tests.
var RateOf = rateOf
