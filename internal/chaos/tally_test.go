package chaos

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/weirlimit/weir"
)

// tally is what became of each tenant's requests, and when: enough to say what
// its own limit and demand come to, whatever others do.
type tally struct {
	began time.Time
	mu    struct {
		sync.Mutex
		tenants map[tenant]*account
	}
}

// tenant is one of a policy's.
type tenant struct {
	kind string
	id   uint64
}

// account is of one tenant. Instants are since the tally began. The server
// decided on the first request between its two instants, and on the last.
type account struct {
	allowed, denied         int
	firstAsked, firstAnswer time.Duration
	lastAsked, lastAnswer   time.Duration
}

// tenantOf is whom the load's requests of a key are for; see fill.
func tenantOf(key uint64) tenant {
	if key%2 == 1 {
		return tenant{"wide", key}
	}
	return tenant{"tight", tightTenant(key)}
}

// note takes down an answer that has just come.
func (l *tally) note(who tenant, took time.Duration, d *weir.Decision, err error) {
	at := time.Since(l.began)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.tenants == nil {
		l.mu.tenants = map[tenant]*account{}
	}
	a := l.mu.tenants[who]
	if a == nil {
		a = &account{firstAsked: at - took, firstAnswer: at, lastAsked: at - took, lastAnswer: at}
		l.mu.tenants[who] = a
	}
	if err == nil && d.Allowed() {
		a.allowed++
	} else {
		a.denied++
	}
	a.firstAsked, a.firstAnswer = min(a.firstAsked, at-took), min(a.firstAnswer, at)
	a.lastAsked, a.lastAnswer = max(a.lastAsked, at-took), max(a.lastAnswer, at)
}

// tallied is by how many requests a tenant's answers may be off: one that is due
// just before or after an instant that clients know to some milliseconds only.
const tallied = 1

// fair says what is wrong with a tenant's decisions: an answer too many that
// allowed, or one too few. A tight tenant asks for many times its limit all the
// time, so it gets all of that and no more; a wide one gets all it asks for.
func (a *account) fair(kind string) error {
	if kind == "wide" {
		if a.denied > 0 {
			return fmt.Errorf("%d of %d were denied, want none", a.denied, a.allowed+a.denied)
		}
		return nil
	}
	least := math.Floor(tightBurst+tightRate*(a.lastAsked-a.firstAnswer).Seconds()) - tallied
	most := math.Floor(tightBurst+tightRate*(a.lastAnswer-a.firstAsked).Seconds()) + tallied
	if got := float64(a.allowed); got < least || got > most {
		return fmt.Errorf("%d of %d were allowed, want %.0f to %.0f", a.allowed, a.allowed+a.denied, least, most)
	}
	if a.denied == 0 {
		return fmt.Errorf("none of %d was denied: the limit was not in the way", a.allowed)
	}
	return nil
}

// unfair is what is wrong with anybody's.
func (l *tally) unfair() (wrong []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for who, a := range l.mu.tenants {
		if err := a.fair(who.kind); err != nil {
			wrong = append(wrong, fmt.Sprintf("%s tenant %d: %v", who.kind, who.id, err))
		}
	}
	return wrong
}

// size is how many tenants there are.
func (l *tally) size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.mu.tenants)
}

// median is the middle one; 0 of none.
func median(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}
