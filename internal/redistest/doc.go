// Package redistest runs real redis-server processes for tests: one server, a
// Cluster, or a primary watched by Sentinels. A fake cannot show what Weir
// must survive (MOVED and ASK during a reshard, READONLY after a failover, a
// primary that accepts connections and never answers), so tests use the server
// that production uses.
//
//	srv := redistest.Start(t)                    // empty, gone when t ends
//	cl := redistest.StartCluster(t, 3, 3)        // 3 primaries, 3 replicas
//	st := redistest.StartSentinel(t, 3, 1)       // 3 sentinels, 1 replica
//
// # Ports
//
// Every server listens on 127.0.0.1 only. A port is held from before the
// server starts until the test ends by a socket that is bound and never
// listens: no other test, process or outgoing connection is given it, not even
// while the server is stopped, so [Server.Restart] comes back at the same
// address. A start that loses its port all the same takes another one.
//
// # Processes
//
// A server is killed and reaped by the test's Cleanup: after a pass, a Fatal
// and a panic. When the test binary itself dies (-timeout, kill -9) the kernel
// kills the server (PR_SET_PDEATHSIG, Linux only). Data lives in t.TempDir and
// nothing is persisted: a restarted server is empty, though a cluster node
// keeps its identity and a sentinel what it knows.
//
// # Failures
//
// A missing redis-server fails the test, it never skips it: a suite that skips
// its store is green and proves nothing. Every wait is bounded (10 s for a
// server, 30 s for a cluster or a sentinel set) and says what it was waiting
// for. When a test fails, the end of each server's log is printed.
//
// # Concurrency
//
// All methods may be called from several goroutines. Those that return no
// error end the test with Fatalf, and so belong to the test's own goroutine;
// [Server.Do] returns its error and may be used anywhere.
package redistest
