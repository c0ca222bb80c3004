package engine_test

import (
	"testing"
	"time"

	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/pseudonym"
	"github.com/weirlimit/weir/memstore"
)

// TestAnInstanceThatMissedTheRotation counts apart from the others, and must not
// disturb them: what they admit stays within the limit.
func TestAnInstanceThatMissedTheRotation(t *testing.T) {
	set, store := compile(t, "policies:\n  - {id: p, by: [ip], limits: [100/h], on_failure: open}\n"), memstore.New()
	with := func(r *pseudonym.Ring) *engine.Engine {
		e, err := engine.New(engine.Options{Store: store, Deadline: time.Minute, Pseudonyms: func() *pseudonym.Ring { return r }})
		if err != nil {
			t.Fatal(err)
		}
		e.Swap(set)
		return e
	}
	current := ringAt(t, -5*time.Minute)
	c := current.Config()
	c.Salts = c.Salts[:1]
	missed, err := pseudonym.New(c)
	if err != nil {
		t.Fatal(err)
	}
	admitted := [2]int{}
	for range 1000 {
		for i, e := range []*engine.Engine{with(current), with(missed)} {
			if d := check(t, e, ask("ip", "203.0.113.7")); d.Allowed() {
				admitted[i]++
			}
		}
	}
	if admitted[0] != 100 || admitted[1] > 200 {
		t.Errorf("%d admitted by those who know, %d by the one who does not", admitted[0], admitted[1])
	}
}
