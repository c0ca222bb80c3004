// Package certtest makes certificates for tests: authorities, and what they
// issue to servers and clients, as PEM texts that can be written to files, over
// older ones too.
//
//	ca := certtest.New(t)
//	server := ca.Server(t)                       // for 127.0.0.1 and localhost
//	client := ca.Client(t, "gateway.example", "spiffe://example/gateway")
//	server.Write(t, certFile, keyFile)
//
// Every certificate has a serial number of its own, so that a test can tell a
// rotated one from the one before. Two authorities do not trust each other. The
// key of an authority is never written.
//
// An authority may be used by several goroutines; a failure ends the test.
package certtest
