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

	// Of refresh, which is called by one at a time.
	turn  int         // each begins with another node
	inUse []slotRange // what the topology was made of
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

// refresh asks a node who serves what. If that is news others are asked too, and
// what most of them say is swapped in. The first view of all is taken as it is:
// where it is wrong, calls fail, and whoever fails pokes.
func (f *follower) refresh(ctx context.Context) error {
	began := time.Now()
	first := f.ask(ctx)
	f.turn++
	if first.err != nil {
		return first.err
	}
	next := first.ranges
	if f.inUse != nil && !slices.Equal(next, f.inUse) {
		next = f.vote(ctx, first, hearFor+time.Since(began))
	}
	if !slices.Equal(next, f.inUse) {
		f.swap(next)
		f.inUse = next
	}
	return nil
}

// swap puts the topology of a view in place.
func (f *follower) swap(ranges []slotRange) {
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
}

// ask asks the nodes in use, then the addresses the store was given, one after
// the other, until one answers. It does not wait long for one: a node that hangs
// is no reason not to hear from the others that it was replaced.
func (f *follower) ask(ctx context.Context) opinion {
	nodes := append(f.nodes(), f.given()...)
	answers := make(chan opinion, len(nodes))
	hurry := time.NewTicker(askNextAfter)
	defer hurry.Stop()
	var last opinion
	for asked, heard := 0, 0; heard < len(nodes); {
		if asked < len(nodes) {
			f.askFor(ctx, nodes[asked], answers)
			asked++
		}
		select {
		case last = <-answers:
			if last.err == nil {
				return last
			}
			heard++
		case <-hurry.C:
		}
	}
	return last
}

// nodes are those in use. Each refresh begins with another, since a node that was
// cut off from the cluster tells its last view for ever. Those that may be come
// last.
func (f *follower) nodes() []teller {
	shards := f.store.topo.Load().shards
	var well, lost []teller
	for i := range shards {
		sh := shards[(f.turn+i)%len(shards)]
		if sh.cutOff() {
			lost = append(lost, teller{addr: sh.addr, lost: true})
		} else {
			well = append(well, teller{addr: sh.addr})
		}
	}
	return append(well, lost...)
}

// given are the store's addresses that are not in use.
func (f *follower) given() []teller {
	shards := f.store.topo.Load().shards
	var out []teller
	for _, addr := range f.store.opts.Addrs {
		if !slices.ContainsFunc(shards, func(sh *shard) bool { return sh.addr == addr }) {
			out = append(out, teller{addr: addr})
		}
	}
	return out
}

// askFor has the answer of one node, when there is one, sent to answers.
func (f *follower) askFor(ctx context.Context, who teller, answers chan<- opinion) {
	f.store.goRun(func() {
		ranges, err := f.askAt(ctx, who.addr)
		answers <- opinion{teller: who, ranges: ranges, err: err}
	})
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
	ranges, err := parseSlots(&m, addr)
	slices.SortFunc(ranges, func(a, b slotRange) int { return a.from - b.from }) // so that two can be compared
	return ranges, err
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
