package report

import (
	"strings"
	"testing"

	"github.com/weirlimit/weir/bench/internal/measure"
	"github.com/weirlimit/weir/bench/internal/peer"
)

func middlewareRows(ours, allocs float64) []measure.SpeedTable {
	row := func(name string, mine bool, ns, news float64) measure.SpeedRow {
		return measure.SpeedRow{Name: name, Ours: mine, Wall: []float64{ns}, CPU: []float64{ns}, News: []float64{news}}
	}
	return []measure.SpeedTable{{Keys: 10_000, Cores: 1, Rows: []measure.SpeedRow{
		row(judgedMiddleware, true, ours, allocs), row("ours too", true, 1, 0), row(peer.Bare, false, 1, 0),
		row("slow", false, 900, 3), row("greedy", false, 600, 9),
	}}}
}

func TestMiddlewareBars(t *testing.T) {
	for _, c := range []struct {
		ns, allocs  float64
		first, lean bool
	}{{500, 2, true, true}, {600, 3, false, false}, {700, 1, false, true}} {
		bars := middlewareBars(middlewareRows(c.ns, c.allocs))
		if len(bars) != 2 || bars[0].Met != c.first || bars[1].Met != c.lean {
			t.Errorf("%+v: %+v", c, bars)
		}
		if !strings.Contains(bars[0].Measured, "greedy") || !strings.Contains(bars[1].Measured, "slow") {
			t.Errorf("the rivals: %+v", bars)
		}
	}
}

func TestMiddlewareSection(t *testing.T) {
	d := Document{Middleware: middlewareRows(500, 2)}
	text := d.Markdown()
	for _, want := range []string{"## Middleware\n", "### Middleware, 10k addresses, 1 core", "ns a request", "| greedy", "1.20x", "is first", "PASS"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
