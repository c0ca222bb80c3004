package procs

import (
	"context"
	"runtime"
	"sync"
	"time"
)

const (
	// busyBeat is how often is looked when there is something to do, and idleBeat
	// when there is next to nothing: whoever sleeps should not be woken for this.
	busyBeat = 20 * time.Millisecond
	idleBeat = 100 * time.Millisecond
	idle     = 0.05 // processors in use

	// renewal is how often is asked how many processors there are: a container's
	// limit may change.
	renewal = 30 * time.Second
)

// Governor sets how many processors Go uses. Make one with New, and call Run. A nil
// Governor does nothing.
type Governor struct {
	used  func() (time.Duration, error)
	rest  func() (ticks int64, ok bool) // how long the machine's processors were idle, if that is known
	set   func(int)
	renew func() int // how many there are
	every time.Duration

	mu struct {
		sync.Mutex
		want, have, most int // 0 before Run
		held             int // by All
	}
}

// New returns a governor of this program.
func New() *Governor {
	return &Governor{
		used: used,
		rest: rest,
		set:  func(n int) { runtime.GOMAXPROCS(n) },
		renew: func() int {
			runtime.SetDefaultGOMAXPROCS()
			return runtime.GOMAXPROCS(0)
		},
		every: renewal,
	}
}

// least is how many of most processors stay: one of a small machine, and of a large
// one enough for a goroutine that does not let go of one to be no trouble.
func least(most int) int { return max(1, most/4) }

// Run governs until ctx ends, or the system does not say how much was used. All
// processors are in use afterwards.
func (g *Governor) Run(ctx context.Context) error {
	before, err := g.used()
	if err != nil {
		return err
	}
	most := g.ask()
	defer func() { g.want(most) }()
	j := newJudge(least(most), most)
	g.want(j.now)
	beat, last, renewed, idlers := busyBeat, time.Now(), time.Now(), idlers{ask: g.rest}
	timer := time.NewTimer(beat)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		now := time.Now()
		after, err := g.used()
		if err != nil {
			return err
		}
		if now.Sub(renewed) > g.every {
			renewed = now
			if n := g.ask(); n != most {
				most = n
				j = newJudge(least(most), most)
			}
		}
		elapsed := now.Sub(last)
		use := float64(after-before) / float64(elapsed)
		if j.now > j.least {
			idlers.look(now)
		}
		g.want(j.beat(elapsed, use, elapsed-beat, idlers.count))
		beat = busyBeat
		if use < idle {
			beat = idleBeat
		}
		before, last = after, now
		timer.Reset(beat)
	}
}

// Now is how many processors are thought to be enough, 0 before Run.
func (g *Governor) Now() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.mu.want
}

// All gives the program all processors until the returned function is called:
// something heavy begins, which would keep requests from theirs.
func (g *Governor) All() (done func()) {
	if g == nil {
		return func() {}
	}
	g.hold(1)
	return sync.OnceFunc(func() { g.hold(-1) })
}

func (g *Governor) hold(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.held += n
	g.applyLocked()
}

func (g *Governor) want(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.want = n
	g.applyLocked()
}

// ask asks how many processors there are, of which all are in use until somebody wants
// other than that.
func (g *Governor) ask() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.most = g.renew()
	g.mu.have = g.mu.most
	return g.mu.most
}

// applyLocked stops the world for some microseconds if there is something to change.
func (g *Governor) applyLocked() {
	n := g.mu.want
	if g.mu.held > 0 {
		n = g.mu.most
	}
	if n != 0 && n != g.mu.have { // 0 before Run
		g.mu.have = n
		g.set(n)
	}
}
