//go:build !race

package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/loadgen"
	"github.com/weirlimit/weir/internal/redistest"
)

// whaleDay is the nodes under the load of all tenants, and what is seen of the
// leases meanwhile.
type whaleDay struct {
	t     testing.TB
	form  whaleForm
	nodes [whaleNodes]*rig
	began time.Time

	whale      ledger
	neighbours [neighbours]ledger

	ctx   context.Context // of the whale's loads and the watching
	stop  context.CancelFunc
	loads sync.WaitGroup

	mu struct {
		sync.Mutex
		rate    int // of the whale, as it is asked for now
		sizes   []sizes
		results []*loadgen.Result // of the whale's loads that have ended
	}
}

// newWhaleDay starts the nodes, and the neighbours' load.
func newWhaleDay(t testing.TB, f form) *whaleDay {
	t.Helper()
	d := &whaleDay{t: t, form: theWhaleForm(f)}
	f.warm = 0 // all nodes begin together
	s := redistest.Start(t)
	var started [whaleNodes]*instance
	for i := range started {
		started[i] = serve(t, launch{
			policies: d.form.policies(), deadline: whaleDeadline,
			args: []string{"--redis", s.Addr(), "--instances", fmt.Sprint(whaleNodes), "--lease-share", fmt.Sprint(whaleShare)},
		})
	}
	for i, w := range started {
		w.awaitReady()
		d.nodes[i] = newRig(t, f, w)
	}
	if a, ok := t.(*attempt); ok {
		a.bound = f.unfelt // sizes and latencies are judged, not this deadline
	}
	d.ctx, d.stop = context.WithCancel(context.Background())
	t.Cleanup(d.end)
	d.began = time.Now()
	d.whale.began = d.began
	for i := range d.neighbours {
		d.neighbours[i].began = d.began
	}
	for _, r := range d.nodes {
		r.load(func(l *loadgen.Load) {
			l.Rate = neighbours * neighbourRate / whaleNodes
			l.Keys.Count = neighbours
			l.Fill = func(key uint64, q *weir.Request) { fillKind(neighbourKind(key), key, q) }
			l.Answered = func(a loadgen.Answer) { d.answered(r, &d.neighbours[a.Key], a) }
		})
	}
	d.loads.Go(d.watch)
	return d
}

// answered is told of every answer of a node's.
func (d *whaleDay) answered(r *rig, l *ledger, a loadgen.Answer) {
	r.answered(a)
	l.note(a.Took, a.Err == nil && a.Decision.Allowed())
}

// more has the whale ask so many times a second more, of all nodes together.
func (d *whaleDay) more(rate int) {
	d.mu.Lock()
	d.mu.rate += rate
	d.mu.Unlock()
	for _, r := range d.nodes {
		d.loads.Go(func() {
			res, err := loadgen.Run(d.ctx, r.client, loadgen.Load{
				Rate: rate / whaleNodes, For: 10 * time.Minute,
				Fill:     func(_ uint64, q *weir.Request) { fillKind("whale", 1<<20, q) },
				Answered: func(a loadgen.Answer) { d.answered(r, &d.whale, a) },
			})
			if err != nil {
				d.t.Errorf("load of the whale: %v", err)
				return
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			d.mu.results = append(d.mu.results, res)
		})
	}
}

// mark notes what is done now at all nodes, and returns what they have done so
// far.
func (d *whaleDay) mark(what string) (marks [whaleNodes]sample) {
	for i, r := range d.nodes {
		marks[i] = r.mark("%s", what)
	}
	return marks
}

// watch looks at the sizes of the whale's leases.
func (d *whaleDay) watch() {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-d.ctx.Done():
			return
		case <-tick.C:
		}
		s := sizes{at: time.Since(d.began)}
		for i, r := range d.nodes {
			n, err := r.whaleSize()
			if err != nil {
				d.t.Errorf("look at the leases: %v", err)
				return
			}
			s.nodes[i] = n
		}
		d.mu.Lock()
		s.rate = d.mu.rate
		d.mu.sizes = append(d.mu.sizes, s)
		d.mu.Unlock()
	}
}

// whaleSize is how many units of the whale's limit a node takes at a time.
func (r *rig) whaleSize() (int64, error) {
	text, err := r.weir.page("/hotkeys?format=json&n=100")
	if err != nil {
		return 0, err
	}
	var page struct {
		Keys []struct {
			Key   string
			Lease int64
		}
	}
	if err := json.Unmarshal([]byte(text), &page); err != nil {
		return 0, err
	}
	for _, k := range page.Keys {
		if strings.Contains(k.Key, "whale") {
			return k.Lease, nil
		}
	}
	return 0, nil
}

// end stops the whale and the watching. It may be called more than once.
func (d *whaleDay) end() {
	d.stop()
	d.loads.Wait()
}
