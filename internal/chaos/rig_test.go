//go:build !race

package chaos

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/client"
	"github.com/weirlimit/weir/internal/loadgen"
)

// rig is one weir serve under load, and what is seen of it.
//
//	newRig --> load --> mark, hold ... --> end --> judged
type rig struct {
	t    testing.TB
	form form
	weir *instance

	client *client.Client
	began  time.Time
	stop   context.CancelFunc
	ended  chan struct{}
	result *loadgen.Result // after ended

	mu struct {
		sync.Mutex
		samples  []sample
		marks    []mark
		admitted map[uint64]int // answers that allowed, by key
		degraded int            // answers by a fail mode of the server's
		fell     int            // answers that the client had to make up itself
		lost     error          // why, of the first
	}
	watching sync.WaitGroup
}

// newRig prepares a rig of a server that is ready.
func newRig(t testing.TB, f form, w *instance) *rig {
	t.Helper()
	r := &rig{t: t, form: f, weir: w, ended: make(chan struct{})}
	r.mu.admitted = map[uint64]int{}
	c, err := client.New(w.grpc, client.WithDeadline(2*time.Second), client.WithInsecure(), client.WithFailMode(client.FailClosed), client.WithHooks(weir.Hooks{
		Degraded: func(_ *weir.Decision, err error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.mu.fell++; r.mu.lost == nil {
				r.mu.lost = err
			}
		},
	}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close the client: %v", err)
		}
	})
	r.client = c
	return r
}

// load starts the form's load, and returns once it has run for the form's time
// before the fault. fill, where given, makes other requests.
func (r *rig) load(change ...func(*loadgen.Load)) {
	r.t.Helper()
	await(r.t, "the client to be connected", func() error {
		var q weir.Request
		var d weir.Decision
		fillKind("wide", 1<<40, &q)
		if err := r.client.Check(r.t.Context(), &q, &d); err != nil || d.PolicyVersion == "" {
			return fmt.Errorf("%+v %w", d, err)
		}
		return nil
	})
	r.mu.Lock()
	r.mu.fell, r.mu.lost = 0, nil
	r.mu.Unlock()
	l := loadgen.Load{
		Rate: r.form.rate, For: 10 * time.Minute, Fill: fill,
		Keys: loadgen.Keys{Seed: r.form.seed, Count: uint64(r.form.keys)}, Answered: r.answered,
	}
	for _, f := range change {
		f(&l)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	r.scrape()
	r.began = time.Now()
	go func() {
		defer close(r.ended)
		result, err := loadgen.Run(ctx, r.client, l)
		if err != nil {
			r.t.Errorf("load: %v", err)
		}
		r.result = result
	}()
	r.watching.Go(func() { r.watch(ctx) })
	r.t.Cleanup(func() {
		r.finish()
		if r.t.Failed() {
			r.t.Log(r.report())
		}
	})
	r.mark("load")
	r.hold(r.form.warm)
}

func (r *rig) answered(a loadgen.Answer) {
	if a.Err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if a.Decision.Allowed() {
		r.mu.admitted[a.Key]++
	}
	if degraded(a.Decision) {
		r.mu.degraded++
	}
}

// degraded tells whether a fail mode of the server's answered. The client's own
// knows no version.
func degraded(d *weir.Decision) bool {
	return (d.Reason == weir.ReasonDegraded || d.Source == weir.SourceBackstop) && d.PolicyVersion != ""
}

// watch scrapes as often as the timeline has steps.
func (r *rig) watch(ctx context.Context) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			r.scrape()
		}
	}
}

// scrape takes a sample now, and keeps it.
func (r *rig) scrape() sample {
	at := time.Now()
	text, err := r.weir.page("/metrics")
	var s sample
	if err == nil {
		s, err = parseSample(at, text)
	}
	if err != nil {
		r.t.Errorf("scrape: %v", err)
		return s
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.samples = append(r.mu.samples, s)
	return s
}

// mark notes what is done now, and takes a sample.
func (r *rig) mark(format string, args ...any) sample {
	r.mu.Lock()
	r.mu.marks = append(r.mu.marks, mark{time.Now(), fmt.Sprintf(format, args...)})
	r.mu.Unlock()
	return r.scrape()
}

// hold lets the load go on for some time.
func (r *rig) hold(d time.Duration) { time.Sleep(d) }

// finish ends the load and the watching. It may be called more than once.
func (r *rig) finish() {
	r.stop()
	<-r.ended
	r.watching.Wait()
}

// report is what a row that failed leaves behind.
func (r *rig) report() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.result == nil {
		return "there was no load"
	}
	var pulses []pulse
	if a, ok := r.t.(*attempt); ok {
		pulses = a.pulses()
	}
	return timeline(r.result, r.mu.samples, r.mu.marks, pulses)
}
