package redisstore

import (
	"cmp"
	"context"
	"slices"
	"time"
)

const (
	maxVoters = 9                      // nodes that are heard about one change, the first included
	hearFor   = 200 * time.Millisecond // longer than the first took, for the others
)

// teller is a node that is asked who serves what.
type teller struct {
	addr string
	lost bool // it may be cut off; see shard.cutOff
}

// opinion is what a node answered.
type opinion struct {
	teller
	ranges []slotRange // by slot
	err    error
}

// vote asks the other nodes in use about a view that is not the one in use, all
// at once, and returns the one to believe.
//
// Redis promotes a replica when most primaries agree, and tells all that can be
// reached at once. Most of those in use therefore know soon, and a node that was
// cut off, or has not heard yet, does not bring back what was: until most know,
// all stays as it is, and calls that fail have it asked again.
func (f *follower) vote(ctx context.Context, first opinion, within time.Duration) []slotRange {
	others := slices.DeleteFunc(f.nodes(), func(t teller) bool { return t.addr == first.addr })
	others = others[:min(len(others), maxVoters-1)]
	answers := make(chan opinion, len(others))
	for _, who := range others {
		f.askFor(ctx, who, answers)
	}
	enough := time.NewTimer(within)
	defer enough.Stop()
	told := []opinion{first}
	for range others {
		select {
		case o := <-answers:
			if o.err != nil {
				continue
			}
			told = append(told, o)
			if 2*votesFor(told, o.ranges).well > len(others)+1 {
				return o.ranges // whatever the others say
			}
		case <-enough.C:
			return f.mostTold(told)
		}
	}
	return f.mostTold(told)
}

// votes is how many tell a view.
type votes struct {
	well int // of those that are not cut off
	all  int
}

func votesFor(told []opinion, ranges []slotRange) (v votes) {
	for _, o := range told {
		if !slices.Equal(o.ranges, ranges) {
			continue
		}
		v.all++
		if !o.lost {
			v.well++
		}
	}
	return v
}

// mostTold is the view that most tell: most of those that are not cut off, and if
// that says nothing, of all. If that does not either it is the one in use, so that
// nodes which never agree, on their addresses say, do not have it change each time.
func (f *follower) mostTold(told []opinion) []slotRange {
	best, most := told[0].ranges, votes{}
	for _, o := range told {
		v := votesFor(told, o.ranges)
		more := cmp.Or(cmp.Compare(v.well, most.well), cmp.Compare(v.all, most.all))
		if more > 0 || more == 0 && slices.Equal(o.ranges, f.inUse) {
			best, most = o.ranges, v
		}
	}
	return best
}
