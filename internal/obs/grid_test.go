package obs

import (
	"sync"
	"testing"
)

// Of units added while a grid is swept, each is either in the sweep or refused.
func TestSweepAndAddSplitTheUnits(t *testing.T) {
	const workers, each = 4, 20_000
	g := newGrid(3, 4, 2)
	var refused [workers]uint64
	var wg sync.WaitGroup
	begun := make(chan struct{}, workers)
	for w := range workers {
		wg.Go(func() {
			for i := range uint32(each) {
				if !g.add(i%5, i%16, i) {
					refused[w]++
				}
				if i == each/4 {
					begun <- struct{}{}
				}
			}
		})
	}
	<-begun
	var total uint64
	for _, n := range g.sweep() {
		total += n
	}
	wg.Wait()
	for _, n := range refused {
		total += n
	}
	if total != workers*each {
		t.Errorf("%d units are accounted for, of %d", total, workers*each)
	}
}

func TestSweepLeavesOutWhatWasScraped(t *testing.T) {
	g := newGrid(3, 4, 4)
	for stripe := range uint32(10) {
		g.add(2, 5, stripe)
	}
	if rows := g.readAll(); rows[2][5] != 10 {
		t.Errorf("read %d, want 10", rows[2][5])
	}
	g.scraped()
	g.add(1, 5, 0)
	g.readAll() // read, but not scraped
	g.add(0, 6, 3)
	left := g.sweep()
	if left[5] != 1 || left[6] != 1 {
		t.Errorf("left are %v", left)
	}
}

func TestStripesArePowersOfTwo(t *testing.T) {
	for cores, want := range map[int]int{1: 1, 2: 8, 3: 16, 4: 16, 8: 32, 12: 64, 64: 64, 500: 64} {
		if got := stripes(cores); got != want {
			t.Errorf("%d cores: %d stripes, want %d", cores, got, want)
		}
	}
	big := newCounts("v", make([]RuleInfo, 10_000), 64, New(Options{}).now())
	if got := big.decisions.mask + 1; got != 1 {
		t.Errorf("10,000 rules have %d stripes", got)
	}
}
