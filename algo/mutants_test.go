package algo_test

// mutant is one way to get the algorithms wrong: old, which occurs once in its
// file, replaced by new.
type mutant struct {
	name, file, old, new string
}

var mutants = []mutant{
	{
		"a bucket forgets its fraction of a microsecond", "bucket.go",
		"s.Frac = part % m.Den", "s.Frac = 0",
	},
	{
		"a bucket is free before the microsecond is over", "bucket.go",
		"(part+m.Den-1)/m.Den", "part/m.Den",
	},
	{
		"a bucket drains when time goes back", "bucket.go",
		"elapsed := int64(now - s.At)", "elapsed := max(int64(now-s.At), int64(s.At-now))",
	},
	{
		"an interval is cut to microseconds", "bucket.go",
		"part := n*m.Rem + s.Frac // <", "part := s.Frac // <",
	},
	{
		"a bucket starts anew with every charge", "state.go",
		"if s.Used == 0 {\n\t\t\ts.At, s.Frac = now, 0", "if s.Used >= 0 {\n\t\t\ts.At, s.Frac = now, 0",
	},
	{
		"a new limit rounds the fraction down", "state.go",
		"s.At, s.Frac = s.At+1, 0", "s.Frac = 0",
	},
	{
		"a new limit forgets what is in use", "state.go",
		"s.Dirty = s.Dirty || s.Used > 0", "s.clear()",
	},
	{
		"a refund has no floor", "state.go",
		"n = min(n, s.Used)\n", "n = min(n, s.Used+1)\n",
	},
	{
		"a cap on what is counted is ignored", "state.go",
		"n = min(n, m.UsedCap-s.Used)", "n = min(n, weir.MaxUsed)",
	},
	{
		"a fixed window begins with its first charge", "state.go",
		"s.At - s.At%m.Limit.Window + m.Limit.Window", "s.At + m.Limit.Window",
	},
	{
		"a fixed window ends a microsecond late", "state.go",
		"if now >= windowEnd(m, s) {", "if now > windowEnd(m, s) {",
	},
	{
		"a run takes whatever comes", "runs.go",
		"if fill := min(n, m.RunCap-last.N); fill > 0", "if fill := n; fill > 0",
	},
	{
		"a run ends a microsecond late", "runs.go",
		"s.Runs[i].T <= edge", "s.Runs[i].T < edge",
	},
	{
		"joined runs are as old as the first", "runs.go",
		"s.Runs[1].N += s.Runs[0].N", "s.Runs[1].N += s.Runs[0].N\n\ts.Runs[1].T = s.Runs[0].T",
	},
	{
		"a refund takes the oldest run", "runs.go",
		"last := &s.Runs[len(s.Runs)-1]", "last := &s.Runs[0]",
	},
	{
		"whoever releases, the last goes", "slots.go",
		"i := s.held(owner)\n\tif i < 0", "i := len(s.Runs) - 1\n\tif i < 0",
	},
	{
		"to renew takes a second unit", "slots.go",
		"if i := s.held(owner); i >= 0", "if i := s.held(owner); i > len(s.Runs)",
	},
	{
		"the cost is not compared", "decide.go",
		"cost <= m.Capacity-s.Used", "s.Used < m.Capacity",
	},
	{
		"the retry is for one unit, whatever the cost", "decide.go",
		"s.freeAt(m, s.Used+cost-m.Capacity)", "s.freeAt(m, s.Used+1-m.Capacity)",
	},
	{
		"who can never pass is told to come back", "decide.go",
		"case cost > m.Capacity:", "case cost > 2*m.Capacity:",
	},
	{
		"the delay is for the charge itself too", "settle.go",
		"o.Delay = s.delay(c.Meter, now)\n\t\to.Granted = s.take(c.Meter, now, n, owner)",
		"o.Granted = s.take(c.Meter, now, n, owner)\n\t\to.Delay = s.delay(c.Meter, now)",
	},
	{
		"a shadow denies", "settle.go",
		"if out[i].OK || charges[i].Mode == weir.Shadow {", "if out[i].OK {",
	},
	{
		"a denied entry is charged where it fits", "settle.go",
		"if !admitted || !o.OK {", "if !o.OK {",
	},
	{
		"always does not count when denied", "settle.go",
		"case weir.Enforce, weir.Shadow:", "case weir.Enforce, weir.Shadow, weir.Always:",
	},
	{
		"up to grants the most", "settle.go",
		"n = min(n, charges[i].Cost, states[i].room(charges[i].Meter))",
		"n = max(n, charges[i].Cost, states[i].room(charges[i].Meter))",
	},
	{
		"a group needs room in one of any group", "settle.go",
		"charges[i].Group == group && out[i].OK", "charges[i].Group != 0 && out[i].OK",
	},
	{
		"a request is known by its id and keys run together", "replay.go",
		"b = binary.AppendUvarint(b, uint64(len(key)))\n", "",
	},
	{
		"a request is known by the name that its counter has now", "replay.go",
		"key := c.Elder()", "key := c.Key",
	},
	{
		"a name counts for a microsecond too long", "twin.go",
		"return s.Expiry(m) > now", "return s.Expiry(m) >= now",
	},
	{
		"a stored fraction is lost", "codec.go",
		"if s.Frac > 0 {", "if s.Frac > s.Used {",
	},
	{
		"a run that is missing goes unnoticed", "codec.go",
		"if sum != s.Used {", "if sum > s.Used {",
	},
	{
		"a stored run of nothing is a run", "codec.go",
		"if s.Used == 0 {", "if s.Used < 0 {",
	},
	{
		"a slot alone is stored without its owner", "codec.go",
		"if m.Machine == weir.Runs && len(s.Runs) == 1 {", "if len(s.Runs) == 1 {",
	},
}
