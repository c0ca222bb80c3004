// Package contest measures servers of Envoy's rate limit service beside each
// other: envoyproxy/ratelimit and Weir, on one redis-server, under the same
// recorded requests.
//
//	System     a server and how it is started
//	Scenario   a configuration, a recording and a load
//	Run        rounds of turns: in each round every system takes its turn at
//	           every scenario, alone on the machine but for Redis and the load
//	Result     all samples, as they are written to a file and to the document
//
// A turn starts the server afresh on an empty Redis, so that none profits from
// what another left behind, and ends it. As keys or rules grow, a station is one
// size: a server, and its Redis, that run and are filled before samples of all
// sizes are taken in turns.
//
// The load is internal/bench's, which weir bench is too. Processor time is the
// kernel's count for the whole process, to the nanosecond. Weir's metrics are on,
// and read once a second while it is measured. Programs end with Run, or with
// this process.
package contest
