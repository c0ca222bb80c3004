// Package e2e holds tests of the program as people run it: the binary is built
// once, started as a process on ports of its own, told things by flags,
// variables, files and signals, and asked over the wire. Nothing here reaches
// into a package of Weir.
//
// The tests hold what no smaller test can: that a first user's first minute
// works, that a rolling restart loses no call, that a poisoned configuration
// disturbs nobody, that a reload of 100,000 rules is not felt, and that what the
// documents say of variables, flags and metrics is what the binary does.
//
// There is no production code here. WEIR_SOAK=1 (make soak) makes the tests that
// can find more by trying longer try longer. A process that a test starts ends
// with it, also when the test fails, and its log is printed then.
package e2e
