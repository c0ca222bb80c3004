package report

import (
	"slices"
	"strconv"

	"github.com/weirlimit/weir/bench/internal/measure"
)

// speedTable lists the libraries at one number of keys and cores. The last
// column is against the first of ours.
func speedTable(t measure.SpeedTable) Table {
	out := Table{Head: []string{"library", "ns a check", "CPU ns a check", "allocs a check", "against Weir"}}
	base := 0.0
	for _, r := range t.Rows {
		if r.Ours && base == 0 {
			base = median(r.Wall)
		}
	}
	for _, r := range t.Rows {
		out.Rows = append(out.Rows, []string{
			r.Name, spread(r.Wall), spread(r.CPU), digits(median(r.News)), times(r.Wall, base),
		})
	}
	return out
}

// heapTable lists what a key costs.
func heapTable(t measure.HeapTable) Table {
	out := Table{Head: []string{"library", "heap bytes a key", "CPU ms of one collection"}}
	for _, r := range t.Rows {
		out.Rows = append(out.Rows, []string{r.Name, spread(r.Bytes), spread(r.GC)})
	}
	return out
}

// loadTable lists the libraries under one load on Redis.
func loadTable(t measure.LoadTable) Table {
	out := Table{Head: []string{
		"library", "decisions/s", "p50 ms", "p99 ms",
		"client us", "Redis us", "client + Redis us", "CPU against Weir", "failed",
	}}
	base := 0.0
	for _, r := range t.Rows {
		if r.Ours && base == 0 {
			base = median(r.Both)
		}
	}
	for _, r := range t.Rows {
		out.Rows = append(out.Rows, []string{
			r.Name, spread(r.Rate), digits(median(r.P50)), digits(median(r.P99)),
			digits(median(r.Client)), digits(median(r.Server)), spread(r.Both), times(r.Both, base),
			percent(median(r.Failed)),
		})
	}
	return out
}

func percent(share float64) string {
	if share == 0 {
		return "0"
	}
	return strconv.FormatFloat(share*100, 'f', 2, 64) + "%"
}

// barTable lists the bars.
func barTable(bars []Bar) Table {
	out := Table{Head: []string{"bar", "measured", "verdict"}, Text: 3}
	stretched := slices.ContainsFunc(bars, func(b Bar) bool { return b.Stretch != "" })
	if stretched {
		out.Head, out.Text = append(out.Head, "stretch"), 4
	}
	for _, b := range bars {
		row := []string{b.Promise, b.Measured, b.Verdict()}
		if stretched {
			row = append(row, b.Stretch)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}
