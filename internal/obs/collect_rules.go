package obs

import "github.com/weirlimit/weir"

// decisions exports the decisions of one set. A rule has its two common series
// from the start, so that its first denial is seen to be an increase; the other
// sources appear when they are used.
func (s sink) decisions(c *counts) {
	rows := c.decisions.readAll()
	for row := rowNone; row < len(rows); row++ {
		name := c.row(row)
		if name == (RuleInfo{}) {
			addAll(rows[rowOther], rows[row])
			continue
		}
		s.decisionRow(c, name, rows[row], row >= firstRule)
	}
	s.decisionRow(c, RuleInfo{ID: other}, rows[rowOther], false)
}

func (s sink) decisionRow(c *counts, name RuleInfo, row []uint64, zeros bool) {
	put := func(n uint64, v weir.Verdict, src weir.Source) {
		s.counterSince(c.since, decisionsTotal, n, name.Domain, name.ID, c.version, v.String(), src.String())
	}
	for _, v := range []weir.Verdict{weir.Allow, weir.Deny} {
		for source := range sources {
			n := row[decisionSlot(v, weir.Source(source))]
			if n > 0 || zeros && source == int(weir.SourceStore) {
				put(n, v, weir.Source(source))
			}
		}
	}
	if n := row[slotUndecided]; n > 0 {
		put(n, 0, weir.SourceStore)
	}
}

// degraded exports the degraded answers of one set: those there are.
func (s sink) degraded(c *counts) {
	rows := c.degraded.readAll()
	for row := rowNone; row < len(rows); row++ {
		name := c.row(row)
		if name == (RuleInfo{}) {
			addAll(rows[rowOther], rows[row])
			continue
		}
		s.degradedRow(c, name, rows[row])
	}
	s.degradedRow(c, RuleInfo{ID: other}, rows[rowOther])
}

func (s sink) degradedRow(c *counts, name RuleInfo, row []uint64) {
	for code := range codes {
		if n := row[code]; n > 0 {
			s.counterSince(c.since, degradedTotal, n, name.Domain, name.ID, c.version, weir.Code(code).String())
		}
	}
}

// addAll adds the counts of a row to those of another.
func addAll(to, row []uint64) {
	for i, n := range row {
		to[i] += n
	}
}
