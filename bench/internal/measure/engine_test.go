package measure

import (
	"strings"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/bench/internal/peer"
)

func TestEngine(t *testing.T) {
	cases := peer.Engines()
	rows, err := Engine(t.Context(), EnginePlan{Checks: 2000, Rounds: 2, Log: t.Logf}, cases)
	if err != nil || len(rows) != len(cases) {
		t.Fatalf("%+v, %v", rows, err)
	}
	for _, r := range rows {
		if len(r.Wall) != 2 || r.Wall[0] <= 0 || len(r.CPU) != 2 || len(r.News) != 2 {
			t.Errorf("%+v", r)
		}
	}
	wrong := cases[:1]
	wrong[0].From = weir.SourceLease // memory has none
	ask := newEngineAsk(wrong[0], wrong[0].New(t))
	if err := ask.time(t.Context(), &SpeedRow{}, 1000); err == nil || !strings.Contains(err.Error(), "not from") {
		t.Errorf("decisions from elsewhere pass: %v", err)
	}
}
