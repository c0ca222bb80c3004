package redisstore

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/key"
)

const (
	refreshEvery = 5 * time.Second        // without a reason
	refreshGap   = 100 * time.Millisecond // between two, whatever the reasons
	askNextAfter = 50 * time.Millisecond  // while one node does not answer
)

// follower keeps a cluster's topology current: when something was not where it
// should be, and now and then.
type follower struct {
	store *Store
	tags  []string // see slotTags
	poked chan struct{}
}

func newFollower(s *Store) *follower {
	return &follower{store: s, tags: slotTags(), poked: make(chan struct{}, 1)}
}

func (f *follower) poke() {
	select {
	case f.poked <- struct{}{}:
	default:
	}
}

func (f *follower) run() {
	tick := time.NewTicker(refreshEvery)
	defer tick.Stop()
	for {
		select {
		case <-f.store.quit:
			return
		case <-f.poked:
		case <-tick.C:
		}
		// An error leaves the last topology in place; whoever needs better will
		// poke again.
		_ = f.refresh(f.store.base)
		if !f.store.sleep(refreshGap) {
			return
		}
	}
}

// noticed is told of every failed flight.
func (s *Store) noticed(e *weir.Error) {
	if s.follow != nil && e.Code.Temporary() {
		s.follow.poke()
	}
}

// slotRange is who serves a range of slots.
type slotRange struct {
	from, to int
	addr     string
}

// refresh asks the first node that answers, and swaps in what it says.
func (f *follower) refresh(ctx context.Context) error {
	ranges, err := f.ask(ctx)
	if err != nil {
		return err
	}
	old := f.store.topo.Load()
	known := make(map[string]*shard, len(old.shards))
	for _, sh := range old.shards {
		known[sh.addr] = sh
	}
	next := &topology{slots: new([key.Slots]*shard)}
	current := make(map[string]*shard)
	for _, r := range ranges {
		sh := current[r.addr]
		if sh == nil {
			if sh = known[r.addr]; sh == nil {
				sh = f.store.startShard(r.addr)
			}
			current[r.addr] = sh
			next.shards = append(next.shards, sh)
		}
		for slot := r.from; slot <= r.to; slot++ {
			next.slots[slot] = sh
		}
	}
	f.store.topo.Store(next)
	if *old.slots != *next.slots {
		for _, sh := range next.shards {
			sh.topologyChanged()
		}
	}
	for addr, sh := range known {
		if current[addr] == nil {
			sh.close(leftError())
		}
	}
	if f.store.closed.Load() { // Close may have missed the new ones
		for _, sh := range next.shards {
			sh.close(closedError())
		}
	}
	return nil
}

// ask asks the nodes in use, then the addresses the store was given, one after
// the other. It does not wait long for one: a node that hangs is no reason not
// to hear from the others that it was replaced.
func (f *follower) ask(ctx context.Context) ([]slotRange, error) {
	type answer struct {
		ranges []slotRange
		err    error
	}
	addrs := f.addrs()
	answers := make(chan answer, len(addrs))
	hurry := time.NewTicker(askNextAfter)
	defer hurry.Stop()
	var last error
	for asked, heard := 0, 0; heard < len(addrs); {
		if asked < len(addrs) {
			addr := addrs[asked]
			f.store.goRun(func() {
				ranges, err := f.askAt(ctx, addr)
				answers <- answer{ranges, err}
			})
			asked++
		}
		select {
		case a := <-answers:
			if a.err == nil {
				return a.ranges, nil
			}
			last = a.err
			heard++
		case <-hurry.C:
		}
	}
	return nil, last
}

func (f *follower) addrs() []string {
	var out []string
	for _, sh := range f.store.topo.Load().shards {
		out = append(out, sh.addr)
	}
	for _, addr := range f.store.opts.Addrs {
		if !slices.Contains(out, addr) {
			out = append(out, addr)
		}
	}
	return out
}

func (f *follower) askAt(ctx context.Context, addr string) ([]slotRange, error) {
	// A connection of its own: those of the shard may hang, and a replica may
	// be asked too.
	n, err := newNode(ctx, addr, &f.store.opts, f.store.opts.Credentials, false)
	if err != nil {
		return nil, err
	}
	defer n.close()
	m, err := n.do(ctx, "CLUSTER", "SLOTS")
	if err != nil {
		return nil, err
	}
	return parseSlots(&m, addr)
}

func parseSlots(m *rueidis.RedisMessage, asked string) ([]slotRange, error) {
	rows, err := m.ToArray()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, &weir.Error{Code: weir.CodeClusterDown, Message: "the cluster serves no slots yet"}
	}
	out := make([]slotRange, 0, len(rows))
	for i := range rows {
		r, err := parseSlotRow(&rows[i], asked)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// parseSlotRow reads [from, to, [host, port, id, ...], replicas...].
func parseSlotRow(m *rueidis.RedisMessage, asked string) (slotRange, error) {
	bad := &weir.Error{Code: weir.CodeProtocol, Message: "CLUSTER SLOTS is not understood"}
	row, err := m.ToArray()
	if err != nil || len(row) < 3 {
		return slotRange{}, bad
	}
	from, err1 := row[0].ToInt64()
	to, err2 := row[1].ToInt64()
	primary, err3 := row[2].ToArray()
	if err1 != nil || err2 != nil || err3 != nil || len(primary) < 2 || from < 0 || to >= key.Slots || from > to {
		return slotRange{}, bad
	}
	host, _ := primary[0].ToString()
	port, err := primary[1].ToInt64()
	if err != nil {
		return slotRange{}, bad
	}
	return slotRange{from: int(from), to: int(to), addr: nodeAddr(host, strconv.FormatInt(port, 10), asked)}, nil
}
