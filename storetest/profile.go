package storetest

// profile says what random histories are made of.
type profile struct {
	name   string
	limits []string // each key has one; see relimit
	tags   int      // hash tags; entries stay in one
	keys   int      // keys in each
	// Entries of a batch, charges of an entry: 1 to this many.
	entries, charges int
	// In 100: an entry that was sent before is sent again, and so on.
	again, ids, modes, groups, relimit, back int
	// A charge has a twin, any other key of its tag. All keys of a tag then have
	// the same limit, as the names of a counter do.
	twins int
}

// Limits that are awkward: primes, intervals below a microsecond, a horizon of
// two years, one unit.
var (
	bucketLimits = []string{
		"3/s burst 3", "7/s burst 11", "700000/s burst 700000", "30011/s burst 40", "9999991/365d burst 9999991",
		"10000000/s burst 10000000", "1/365d burst 2", "100/m token_bucket", "5/s burst 20 token_bucket",
		"10/s burst 5 leaky_bucket", "997/m burst 30 leaky_bucket", "1/s burst 1",
	}
	windowLimits = []string{"5/s fixed_window", "1/m fixed_window", "100/h fixed_window", "9999991/d fixed_window"}
	runLimits    = []string{
		"1/s", "3/s", "16/m", "17/m", "100/m", "1000/s", "9999991/365d", "40/10s", "5/s sliding_log", "60/m sliding_log",
	}
	slotLimits = []string{"1 concurrency 5s", "3 concurrency 30s", "10 concurrency 1h"}
)

var profiles = []profile{
	{name: "bucket", limits: bucketLimits, tags: 1, keys: 3, entries: 1, charges: 1, modes: 30, back: 10},
	{name: "window", limits: windowLimits, tags: 1, keys: 3, entries: 1, charges: 1, modes: 30, back: 10},
	{name: "runs", limits: runLimits, tags: 1, keys: 3, entries: 1, charges: 1, modes: 30, back: 10},
	{name: "slots", limits: slotLimits, tags: 1, keys: 2, entries: 2, charges: 2, ids: 100, modes: 40, back: 10},
	{name: "ids", limits: everyLimit(), tags: 1, keys: 3, entries: 3, charges: 2, ids: 80, again: 50, modes: 30, back: 3},
	{name: "batches", limits: everyLimit(), tags: 3, keys: 2, entries: 12, charges: 2, again: 40, ids: 10, modes: 20},
	{name: "groups", limits: everyLimit(), tags: 1, keys: 5, entries: 2, charges: 4, groups: 70, modes: 10, ids: 20},
	{name: "limits", limits: everyLimit(), tags: 1, keys: 3, entries: 2, charges: 2, relimit: 25, modes: 30, ids: 20, back: 5},
	{name: "everything", limits: everyLimit(), tags: 2, keys: 4, entries: 4, charges: 3, again: 20, ids: 40, modes: 40, groups: 20, relimit: 10, back: 5},
	{name: "twins", limits: everyLimit(), tags: 1, keys: 3, entries: 12, charges: 1, again: 20, ids: 40, modes: 50, back: 5, twins: 75},
	{name: "twins_limits", limits: bucketLimits, tags: 2, keys: 5, entries: 1, charges: 3, again: 20, ids: 20, modes: 40, groups: 20, relimit: 10, back: 5, twins: 60},
}

func everyLimit() []string {
	var all []string
	for _, some := range [][]string{bucketLimits, windowLimits, runLimits, slotLimits} {
		all = append(all, some...)
	}
	return all
}
