package report

import (
	"strings"
	"testing"

	"github.com/weirlimit/weir/bench/internal/measure"
	"github.com/weirlimit/weir/bench/internal/peer"
)

// localRows are both tables, with leases at a rate and a flood at so many calls.
func localRows(leased, calls float64) []measure.LoadTable {
	row := func(name string, rate, calls float64) measure.LoadRow {
		one := []float64{1}
		return measure.LoadRow{
			Name: name, Ours: true, Rate: []float64{rate}, Calls: []float64{calls}, P50: one, P99: one,
			Client: one, Server: []float64{-0.001}, Both: one, Failed: []float64{0},
		}
	}
	return []measure.LoadTable{
		{Scenario: measure.Scenario{Name: "hot"}, Rows: []measure.LoadRow{
			row(peer.EngineAlone, 100e3, 5000), row(peer.DenyCache, 100e3, 5000), row(peer.Leases, leased, 30),
		}},
		{Scenario: measure.Scenario{Name: "flood", Denied: true}, Rows: []measure.LoadRow{
			row(peer.EngineAlone, 200e3, 8000), row(peer.DenyCache, 900e3, calls),
		}},
	}
}

func TestLocalBars(t *testing.T) {
	for _, c := range []struct {
		leased, calls float64
		faster, spare bool
	}{{300e3, 2, true, true}, {100e3, 8, false, true}, {101e3, 8.1, true, false}} {
		bars := localBars(localRows(c.leased, c.calls))
		if len(bars) != 2 || bars[0].Met != c.faster || bars[1].Met != c.spare {
			t.Errorf("%+v: %+v", c, bars)
		}
	}
}

func TestLocalSection(t *testing.T) {
	text := (&Document{Local: localRows(300e3, 2)}).Markdown()
	for _, want := range []string{
		"## One hot key, and what the local tier saves\n", "### Local tier, flood", "Redis calls/s",
		"300k/s, without 100k/s (3.00x)", "2.00 for 900k decisions/s, without 8000 for 200k", "|   0.0000 |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
