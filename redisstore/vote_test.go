package redisstore

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestMostTold(t *testing.T) {
	view := func(name string) []slotRange { return []slotRange{{from: 0, to: 16383, addr: name}} }
	for _, tc := range []struct {
		name  string
		inUse string
		told  string // one letter per node, in the order heard; a capital is cut off
		want  string
	}{
		{"one", "a", "b", "b"},
		{"most", "a", "bab", "b"},
		{"most, heard last", "a", "abb", "b"},
		{"one that has not heard yet", "b", "abb", "b"},
		{"not enough know yet", "a", "baa", "a"},
		{"as many: what is in use", "a", "ba", "a"},
		{"as many: what is in use, heard first", "a", "ab", "a"},
		{"who is cut off says nothing", "a", "Ab", "b"},
		{"nor do two", "a", "AAb", "b"},
		{"unless all are", "a", "ABB", "b"},
		{"they break a tie of the others", "a", "abB", "b"},
		{"nodes that never agree", "c", "abc", "c"},
		{"nor tell what is in use", "d", "abc", "a"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := &follower{inUse: view(tc.inUse)}
			var told []opinion
			for _, r := range tc.told {
				name := string(r)
				told = append(told, opinion{
					teller: teller{lost: strings.ToUpper(name) == name}, ranges: view(strings.ToLower(name)),
				})
			}
			if got := f.mostTold(told); !slices.Equal(got, view(tc.want)) {
				t.Errorf("%v of %s, want %s", got, tc.told, tc.want)
			}
		})
	}
}

// In a cluster where nothing changes a refresh is one call, each time to another
// node, and the topology stays.
func TestClusterRefreshAsksOneAfterTheOther(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 3, 0)
	asked := func() (all int64, each []int64) {
		for _, n := range c.Nodes() {
			calls := n.CommandStats()["cluster|slots"]
			all, each = all+calls, append(each, calls)
		}
		return all, each
	}
	before := c.s.topo.Load()
	began, _ := asked()
	const rounds = 9
	for range rounds {
		was, _ := asked()
		c.s.follow.poke()
		eventually(t, "a refresh", func() error {
			if all, _ := asked(); all == was {
				return fmt.Errorf("%d calls", all)
			}
			return nil
		})
	}
	all, each := asked()
	// There may be some more: without a reason, every 5 s, and where a busy machine
	// has a node be late.
	if all-began >= 2*rounds || slices.Min(each) < rounds/3-1 {
		t.Errorf("%d refreshes: %v calls", rounds, each)
	}
	if c.s.topo.Load() != before {
		t.Error("the topology was replaced by the same")
	}
}
