package pseudonym_test

import (
	"slices"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/pseudonym"
	"pgregory.net/rapid"
)

// shelf is a store of counters that are forgotten when nobody touched them for
// a horizon. It does with two names what weir.Twinning says, and no more.
type shelf struct {
	horizon weir.Micros
	states  map[int]kept // by salt: there is one counter
}

type kept struct {
	count   int
	touched weir.Micros
}

func (s *shelf) read(salt int, now weir.Micros) (kept, bool) {
	if k, ok := s.states[salt]; ok && now-k.touched < s.horizon {
		return k, true
	}
	return kept{}, false
}

// count looks the counter up under the names of a phase and, if that is asked
// for, adds one. It returns what was there.
func (s *shelf) count(p pseudonym.Phase, now weir.Micros, add bool) int {
	twinning := p.Twinning(s.horizon)
	first, other := p.Key, p.Twin
	if twinning == weir.TwinLast {
		first, other = other, first
	}
	if twinning == weir.TwinNone {
		first, other = p.Key, -1
	}
	have, ok := s.read(first, now)
	if !ok && other >= 0 {
		have, _ = s.read(other, now)
	}
	if !add {
		return have.count
	}
	next := kept{have.count + 1, now}
	s.states[p.Key] = next
	switch twinning {
	case weir.TwinLast:
		s.states[p.Twin] = next
	case weir.TwinNext, weir.TwinOld:
		delete(s.states, p.Twin)
	}
	return have.count
}

// TestRotationLosesNothing: nodes whose clocks differ by less than the overlap
// count through several rotations, as often and as rarely as they like. Each
// finds what all of them counted, unless that was a horizon ago.
func TestRotationLosesNothing(t *testing.T) {
	for range 20 { // rapid's own number of tries is for slower things
		rapid.Check(t, losesNothing)
	}
}

func losesNothing(t *rapid.T) {
	const d = weir.Minute
	horizon := weir.Micros(rapid.Int64Range(int64(pseudonym.Replays-weir.Minute), int64(weir.Hour)).Draw(t, "horizon"))
	turn := weir.Micros(rapid.Int64Range(int64(2*d), int64(weir.Hour)).Draw(t, "turn"))
	c := config(0, turn, turn+3*d+weir.Hour, turn+8*d+3*weir.Hour)
	r, err := pseudonym.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ahead := rapid.SliceOfN(rapid.SampledFrom([]weir.Micros{0, d / 3, d - 1}), 2, 4).Draw(t, "ahead")
	truth, s := kept{}, shelf{horizon: horizon, states: map[int]kept{}}
	for now, n := epoch+turn-3*d, 0; n < 100 && now < c.Salts[3].From+2*weir.Hour; n++ {
		now += pause(t, now, c.Salts, horizon)
		node := rapid.IntRange(0, len(ahead)-1).Draw(t, "node")
		add := rapid.IntRange(0, 3).Draw(t, "add") > 0
		want := truth.count
		if now-truth.touched >= horizon {
			want = 0
		}
		if got := s.count(r.At(now+ahead[node]), now, add); got != want {
			t.Fatalf("at T%+v node %d finds %d of %d", now-epoch-turn, node, got, want)
		}
		if add {
			truth = kept{want + 1, now}
		}
	}
}

// TestTheSilentAreRemembered: what a node with a slow clock counted last before
// the rotation is found, by one with a fast clock, for as long as it matters.
func TestTheSilentAreRemembered(t *testing.T) {
	const d, h, turn = weir.Minute, weir.Hour, epoch + 30*weir.Minute
	r := ring(t, config(0, 30*weir.Minute))
	s := shelf{horizon: h, states: map[int]kept{}}
	s.count(r.At(turn-1), turn-1, true)
	for _, later := range []weir.Micros{0, d, 2 * d, h - d, h - 1} {
		if got := s.count(r.At(turn-1+later+d-1), turn-1+later, false); got != 1 {
			t.Errorf("%v later %d are found", later, got)
		}
	}
}

// pause draws how long nobody counts: shortly, or until just before or after an
// edge of the phases, which is where something could go wrong.
func pause(t *rapid.T, now weir.Micros, salts []pseudonym.Salt, horizon weir.Micros) weir.Micros {
	const d = weir.Minute
	part := weir.Micros(1 + rapid.IntRange(0, 15).Draw(t, "part"))
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return part * d / 16
	case 1:
		return part * horizon / 16
	}
	var edges []weir.Micros
	for _, s := range salts[1:] {
		for _, after := range []weir.Micros{-d, 0, d, d + horizon, 2*d + horizon} {
			if at := s.From + after - d; at > now {
				edges = append(edges, at-now)
			}
		}
	}
	if len(edges) == 0 {
		return weir.Hour
	}
	slices.Sort(edges)
	edge := edges[rapid.IntRange(0, min(2, len(edges)-1)).Draw(t, "edge")]
	return edge + part*2*d/16
}
