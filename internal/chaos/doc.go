// Package chaos holds the chaos suite: real weir serve processes under an
// open-loop load, with real Redis servers behind them that are killed, stopped,
// slowed, cut off, resharded and emptied; and the bounds that must hold
// meanwhile. docs/reliability.md is made here.
//
//	loadgen --gRPC stream--> weir serve --> [toxiproxy | link] --> redis-server
//	                            ^
//	       /metrics, every 100 ms: latencies are the server's own
//
// There are two forms: the short one tries every fault for some seconds and is a
// step of make test; the long one is make chaos, and writes the report. Their
// loads and times are in form_test.go. A row asserts that the load was attained,
// that the fault was felt and what its line of the report says. When it fails it
// prints the seed, the timeline per 100 ms and the end of the server's log.
//
// The rows are not built with the race detector, which costs the generator and
// the stores more processor time than the bounds leave; make test runs them in a
// step of their own, with nothing beside them, and runs what judges them with
// the detector as well. Rows run one after the other: they measure.
//
// There is no production code here. Processes, proxies, links and namespaces end
// with the row that made them, also when it fails; processes also when the test
// is killed. The partition needs the right to make network namespaces (root); a
// machine without it fails that row and says so.
package chaos
