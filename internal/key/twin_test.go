package key

import (
	"testing"

	"github.com/weirlimit/weir"
	"pgregory.net/rapid"
)

// TestTwinsShareATag: the names that an entry accepts for one counter are those
// whose tag is the same here.
func TestTwinsShareATag(t *testing.T) {
	m := weir.MustMeter(weir.Limit{Algorithm: weir.GCRA, Count: 1, Window: weir.Second})
	name := rapid.StringMatching(`[{}ab]{1,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		e := weir.Entry{Charges: []weir.Charge{{Key: a, Twin: b, Twinning: weir.TwinNext, Meter: m}}}
		if got, want := e.Validate() == nil, a != b && Tag(a) == Tag(b); got != want {
			t.Errorf("%q and %q, tags %q and %q: accepted %v", a, b, Tag(a), Tag(b), got)
		}
	})
}
