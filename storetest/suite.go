package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/weirlimit/weir"
)

// Base is the instant at which scripts start: 2100-01-01T00:00:00Z. It lies
// ahead of the wall clock so that a server which expires keys at absolute
// instants of its own clock does not drop at once what the suite writes; and it
// is a whole number of days, so that windows of the clock start on it.
const Base = weir.Micros(47482) * weir.Day

// Harness is a store under test, and what can be done to it besides calling it.
type Harness struct {
	// Store is closed by the suite.
	Store weir.Store

	// SetClock stops the store's clock at an instant, which may be earlier than
	// the one before; the store's own clock runs until the first call. While
	// the clock is stopped no state may expire by any other clock: a store on a
	// server has to give its keys time enough. Nil when the clock cannot be
	// set; the cases that need it are then skipped.
	SetClock func(weir.Micros)

	// Holds tells whether the store holds a state for key, and how long until
	// it will let go of it; 0 or less means that it never will. Nil when that
	// cannot be seen; the case that needs it is then skipped.
	Holds func(key string) (expiresIn time.Duration, held bool)

	// Effort multiplies the number of random histories; 0 means 1.
	Effort int
	// Seed starts the random histories; 0 means 1. A failure names its seed.
	Seed uint64
}

// Factory makes a store for one case. It fails t when it cannot, and registers
// what it has to tidy up with t.Cleanup.
type Factory func(t testing.TB) Harness

// Case is one promise of a weir.Store.
type Case struct {
	Name string

	needsClock bool
	check      func(p *probe)
}

// Run runs every case as a subtest.
func Run(t *testing.T, f Factory) {
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) { c.Run(t, f) })
	}
}

// Run runs one case.
func (c Case) Run(t testing.TB, f Factory) {
	t.Helper()
	p := open(t, f)
	if c.needsClock && p.SetClock == nil {
		t.Skip("this store's clock cannot be set")
	}
	c.check(p)
}

// Cases returns all there are, the cheapest to understand when they fail first.
func Cases() []Case {
	return slices.Concat(
		[]Case{
			{Name: "modes", check: checkModes},
			{Name: "groups", check: checkGroups},
			{Name: "refunds", check: checkRefunds},
			{Name: "concurrency", check: checkConcurrency},
			{Name: "read_reset", check: checkReadReset},
			{Name: "order", check: checkOrder},
			{Name: "large_batch", check: checkLargeBatch},
			{Name: "invalid", check: checkInvalid},
			{Name: "invalid_read_reset", check: checkInvalidReadReset},
			{Name: "huge_costs", check: checkHugeCosts},
			{Name: "keys", check: checkKeys},
			{Name: "ids", check: checkIDs},
			{Name: "ids_scope", check: checkIDScope},
			{Name: "ids_window", check: checkIDWindow, needsClock: true},
			{Name: "ids_concurrent", check: checkIDsConcurrent},
			{Name: "twins", check: checkTwins},
			{Name: "twins_together", check: checkTwinsTogether},
			{Name: "twins_ids", check: checkTwinIDs},
			{Name: "twins_concurrency", check: checkTwinConcurrency},
			{Name: "twins_expiry", check: checkTwinsExpiry},
			{Name: "entry_reuse", check: checkEntryReuse},
			{Name: "memory", check: checkMemory},
			{Name: "done", check: checkDone},
			{Name: "deadline", check: checkDeadline},
			{Name: "close", check: checkClose},
			{Name: "expiry", check: checkExpiry},
			{Name: "retry_exact", check: checkRetryExact, needsClock: true},
			{Name: "clock_back", check: checkClockBack, needsClock: true},
		},
		vectorCases(),
		historyCases(),
		[]Case{
			{Name: "real_clock", check: checkRealClock},
			{Name: "never_exceeds", check: checkNeverExceeds},
			{Name: "never_exceeds_rate", check: checkNeverExceedsRate},
			{Name: "all_or_nothing", check: checkAllOrNothing},
			{Name: "across_slots", check: checkAcrossSlots},
			{Name: "linearizable", check: checkLinearizable},
			{Name: "rotation", check: checkRotation, needsClock: true},
			{Name: "rotation_parallel", check: checkRotationParallel},
			{Name: "rotation_across_slots", check: checkRotationAcrossSlots},
		},
	)
}
