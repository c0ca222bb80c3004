package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// slowStep is how long a step may take before a person wonders.
const slowStep = 700 * time.Millisecond

// progress says on the error stream what a command is at, if it takes long.
type progress struct {
	w  io.Writer
	mu struct {
		sync.Mutex
		n     int // of the step under way; -1 at the end
		timer *time.Timer
	}
}

func newProgress(w io.Writer) *progress { return &progress{w: w} }

// step begins the next step.
func (p *progress) step(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopLocked()
	p.mu.n++
	n := p.mu.n
	p.mu.timer = time.AfterFunc(slowStep, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.mu.n == n { // not overtaken while it waited for the lock
			_, _ = fmt.Fprintf(p.w, "weir: looking at %s ...\n", what)
		}
	})
}

// end is the end of the last step: nothing is written after it.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopLocked()
	p.mu.n = -1
}

func (p *progress) stopLocked() {
	if p.mu.timer != nil {
		p.mu.timer.Stop()
	}
}
