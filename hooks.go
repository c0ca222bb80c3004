package weir

import "time"

// Hooks is how a Weir process is watched: metrics, spans and usage events are
// fed from here, and no package counts on its own. A nil func is not called.
// Hooks run on the deciding goroutine: they must not block or allocate, and
// must not keep what they are given.
type Hooks struct {
	// Decided is called once per request. Of requests that nobody is waited for, with
	// counters in memory, leases or denials that are known, one in eight is timed, and
	// took is the same for those after it.
	Decided func(r *Request, d *Decision, took time.Duration)
	// Degraded is called for a decision that the store did not make, and why.
	Degraded func(d *Decision, err error)
	// Panicked is called when a panic was recovered.
	Panicked func(what string)
	// StoreCall is called once per round trip of a store.
	StoreCall func(c StoreCall)
	// Answering is called before a store calls back for the requests of a round
	// trip, and Answered after the last, on the same goroutine: who passes the
	// answers on may so do it once for all. Both or none are set. There may be
	// several at the same time, and a store may call back without them.
	Answering, Answered func()
	// Breaker is called when a shard's breaker changes its state, in the order of
	// the changes. It must not call the store: the shard is locked meanwhile.
	Breaker func(shard string, state BreakerState)
	// Evicted is called when a bounded store drops states that still counted.
	Evicted func(n int)
	// Lost is called for events after which a counter may not be what it should.
	Lost func(kind Loss, n int)
}

// StoreCall describes one round trip.
type StoreCall struct {
	Shard   string        // the node's address; bounded by the size of the cluster
	Entries int           // requests answered
	Groups  int           // distinct requests sent
	Keys    int           // distinct keys touched, those of request ids too
	Took    time.Duration // the round trip
	Script  time.Duration // of which the store was busy with this call and no other; 0 when not measured
	Err     error
}

// Loss names what was lost.
type Loss uint8

// The losses.
const (
	LossLateAnswer   Loss = iota // decided by the store after its deadline: charged, but not used
	LossRefund                   // a refund across slots that could not be made
	LossUncertain                // a batch that may or may not have run
	LossCorruptState             // a stored value that is not a state; read as empty
)

var lossNames = [...]string{"late_answer", "refund", "uncertain", "corrupt_state"}

func (l Loss) String() string {
	if int(l) >= len(lossNames) {
		return "unknown"
	}
	return lossNames[l]
}
