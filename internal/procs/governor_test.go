package procs

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// machine is one of so many processors, and what was set.
type machine struct {
	mu   sync.Mutex
	most int
	sets []int
}

func (m *machine) governor() *Governor {
	return &Governor{
		used: func() (time.Duration, error) { return 0, nil },
		rest: func() (int64, bool) { return 0, false },
		set: func(n int) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.sets = append(m.sets, n)
		},
		renew: func() int {
			m.mu.Lock()
			defer m.mu.Unlock()
			return m.most
		},
		every: time.Hour,
	}
}

func (m *machine) all() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.sets)
}

// govern runs g until the returned function is called, which returns what it said.
func govern(t *testing.T, g *Governor) (stop func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx) }()
	return sync.OnceValue(func() error {
		cancel()
		return <-done
	})
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not in 20 s: " + what)
		}
	}
}

func TestAllHasAllProcessors(t *testing.T) {
	m := &machine{most: 8}
	g := m.governor()
	early := g.All() // before Run there is nothing to change
	early()
	stop := govern(t, g)
	eventually(t, "2 of 8 processors", func() bool { return slices.Equal(m.all(), []int{2}) })
	first, second := g.All(), g.All()
	first()
	first() // a second time is none
	if got := m.all(); !slices.Equal(got, []int{2, 8}) || g.Now() != 2 {
		t.Errorf("set %v with one of two still there, %d enough; want 2, 8, and 2", got, g.Now())
	}
	second()
	if got := m.all(); !slices.Equal(got, []int{2, 8, 2}) {
		t.Errorf("set %v after both, want 2, 8, 2", got)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if got := m.all(); !slices.Equal(got, []int{2, 8, 2, 8}) {
		t.Errorf("set %v in the end, want 2, 8, 2, 8", got)
	}
}

// A container's limit is raised, and lowered, while the program runs.
func TestRunSeesHowManyThereAre(t *testing.T) {
	m := &machine{most: 4}
	g := m.governor()
	g.every = busyBeat
	stop := govern(t, g)
	for _, most := range []int{16, 1, 8} {
		m.mu.Lock()
		m.most = most
		m.mu.Unlock()
		eventually(t, "a quarter of other processors", func() bool { return g.Now() == least(most) })
	}
	g.All()
	if got := m.all(); got[len(got)-1] != 8 {
		t.Errorf("set %v, want all 8 last", got)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
}

func TestNilGovernsNothing(t *testing.T) {
	var g *Governor
	g.All()()
}

func TestRunEndsWhereUseIsUnknown(t *testing.T) {
	m := &machine{most: 4}
	g, calls := m.governor(), 0
	wrong := errors.New("no such thing")
	g.used = func() (time.Duration, error) {
		if calls++; calls < 3 {
			return 0, nil
		}
		return 0, wrong
	}
	if err := g.Run(t.Context()); !errors.Is(err, wrong) {
		t.Errorf("error %v, want %v", err, wrong)
	}
	if got := m.all(); !slices.Equal(got, []int{1, 4}) {
		t.Errorf("set %v, want 1, and in the end 4", got)
	}
}

// TestRealProcessors governs this very process.
func TestRealProcessors(t *testing.T) {
	most := runtime.GOMAXPROCS(0)
	if most < 2 {
		t.Fatal("this machine has one processor; the test needs two, as the project does")
	}
	var stopped atomic.Bool
	stop := govern(t, New())
	defer func() { _ = stop() }()
	eventually(t, "few processors for one that sleeps", func() bool { return runtime.GOMAXPROCS(0) == least(most) })
	var wg sync.WaitGroup
	for range most {
		wg.Go(func() {
			for x := 0; !stopped.Load(); x++ {
				_ = x
			}
		})
	}
	eventually(t, "all processors for one that uses them", func() bool { return runtime.GOMAXPROCS(0) == most })
	stopped.Store(true)
	wg.Wait()
	eventually(t, "few processors again", func() bool { return runtime.GOMAXPROCS(0) == least(most) })
	if err := stop(); err != nil || runtime.GOMAXPROCS(0) != most {
		t.Errorf("%d processors afterwards, of %d; error %v", runtime.GOMAXPROCS(0), most, err)
	}
}
