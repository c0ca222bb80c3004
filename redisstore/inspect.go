package redisstore

import (
	"context"
	"errors"
	"slices"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/doctor"
	"github.com/weirlimit/weir/internal/key"
)

// Inspection says how closely Inspect looks.
type Inspection struct {
	// Brief asks the primaries for their INFO and no more: no probing, no
	// replicas, a round trip or two each.
	Brief bool
	// Step, if not nil, is told what is looked at next.
	Step func(what string)
}

// Inspect gathers what weir doctor judges: from the servers that a store with
// these options would use, as the user it would be, and from their replicas.
// What cannot be had is absent from the facts; the error is about options that
// cannot be.
//
// It changes no data: a write is tried with a SET of a key that is not there, on
// condition that it is. It takes some dozen milliseconds a server, and up to
// ConnTimeout for each that does not answer.
func Inspect(ctx context.Context, o Options, how Inspection) (*doctor.Facts, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	i := &inspector{opts: o, how: how}
	i.facts = &doctor.Facts{Prefix: o.Prefix, Deadline: o.Deadline, Master: o.MasterName}
	if o.Credentials != nil {
		// A name only; if the password cannot be had, every connection says so.
		i.facts.User, _, _ = o.Credentials(ctx)
	}
	switch o.Mode {
	case Sentinel:
		i.sentinels(ctx)
	case Cluster:
		i.cluster(ctx)
	default:
		i.node(ctx, target{addr: o.Addrs[0]})
	}
	return i.facts, ctx.Err()
}

// inspector is an inspection under way.
type inspector struct {
	opts  Options
	how   Inspection
	facts *doctor.Facts
}

// target is a server to look at.
type target struct {
	addr    string
	replica bool
	slot    int // one that it serves, in a cluster
}

func (i *inspector) step(what string) {
	if i.how.Step != nil {
		i.how.Step(what)
	}
}

// sentinels asks every sentinel, and looks at the servers they name.
func (i *inspector) sentinels(ctx context.Context) {
	i.facts.Mode = doctor.Sentinel
	var errs []error
	var primaries []string
	for _, addr := range i.opts.Addrs {
		i.step("sentinel " + addr)
		v := i.sentinel(ctx, addr)
		i.facts.Sentinels = append(i.facts.Sentinels, v)
		if v.Err != nil {
			errs = append(errs, v.Err)
		} else if !slices.Contains(primaries, v.Primary) {
			primaries = append(primaries, v.Primary)
		}
		if v.Err == nil && i.how.Brief {
			break
		}
	}
	if len(primaries) == 0 {
		e, _ := classify(errors.Join(errs...))
		i.facts.Err = &weir.Error{
			Code: e.Code, Message: "no sentinel knows the primary of " + i.opts.MasterName,
			Hint: "see the sentinels below; SENTINEL MASTERS lists the names they know",
		}
		return
	}
	for _, addr := range primaries {
		for _, replica := range i.node(ctx, target{addr: addr}) {
			if !i.how.Brief {
				i.node(ctx, target{addr: replica, replica: true})
			}
		}
	}
}

func (i *inspector) sentinel(ctx context.Context, addr string) doctor.SentinelView {
	v := doctor.SentinelView{Addr: addr}
	s := &Store{opts: i.opts}
	primary, err := s.askSentinel(ctx, addr)
	if err != nil {
		v.Err = i.explain(err)
		return v
	}
	v.Primary = primary
	if i.how.Brief {
		return v
	}
	n, err := newNode(ctx, addr, &i.opts, i.opts.SentinelCredentials, false)
	if err != nil {
		v.Err = i.explain(err)
		return v
	}
	defer n.close()
	if m, err := n.do(ctx, "SENTINEL", "MASTER", i.opts.MasterName); err == nil {
		v.Details, _ = m.AsStrMap()
	}
	v.Asked = true
	if _, err := n.do(ctx, "SENTINEL", "CKQUORUM", i.opts.MasterName); err != nil {
		v.Quorum = i.explain(err)
		v.Asked = v.Quorum.Code != weir.CodeNoPerm
	}
	return v
}

// cluster asks one node for the others, and looks at all.
func (i *inspector) cluster(ctx context.Context) {
	i.facts.Mode = doctor.Cluster
	var ranges []slotNodes
	var first error
	for _, addr := range i.opts.Addrs {
		i.step("cluster " + addr)
		n, err := newNode(ctx, addr, &i.opts, i.opts.Credentials, false)
		if err == nil {
			ranges, err = i.askCluster(ctx, n)
			n.close()
		}
		if err == nil {
			break
		}
		if first == nil {
			first = err
		}
	}
	if ranges == nil {
		// Each says by itself why it cannot be used.
		i.facts.Err = i.explain(first)
		for _, addr := range i.opts.Addrs {
			i.node(ctx, target{addr: addr, slot: -1})
		}
		return
	}
	for _, t := range targets(ranges) {
		if !t.replica || !i.how.Brief {
			i.node(ctx, t)
		}
	}
}

// askCluster reads how the cluster is arranged.
func (i *inspector) askCluster(ctx context.Context, n *node) ([]slotNodes, error) {
	m, err := n.do(ctx, "CLUSTER", "SLOTS")
	if err != nil {
		return nil, err
	}
	ranges, err := parseSlotNodes(&m, n.addr)
	if err != nil {
		return nil, err
	}
	view := &doctor.ClusterView{}
	for _, r := range ranges {
		view.Covered += r.to - r.from + 1
		if !slices.ContainsFunc(view.Primaries, func(p doctor.Primary) bool { return p.Addr == r.addr }) {
			view.Primaries = append(view.Primaries, doctor.Primary{Addr: r.addr, Replicas: r.replicas})
		}
	}
	if m, err := n.do(ctx, "CLUSTER", "INFO"); err == nil {
		text, _ := m.ToString()
		view.State = parseInfo(text)["cluster_state"]
	}
	i.facts.Cluster = view
	return ranges, nil
}

// targets lists the nodes of a cluster, each primary before its replicas.
func targets(ranges []slotNodes) []target {
	var out []target
	add := func(t target) {
		if !slices.ContainsFunc(out, func(o target) bool { return o.addr == t.addr }) {
			out = append(out, t)
		}
	}
	for _, r := range ranges {
		add(target{addr: r.addr, slot: r.from})
		for _, addr := range r.replicas {
			add(target{addr: addr, replica: true, slot: r.from})
		}
	}
	return out
}

// probeKey is a key that nobody uses, of the target's slot: under the prefix,
// like any other, so that an ACL that allows those allows this one.
func (i *inspector) probeKey(t target) string {
	tag := "weir"
	if i.opts.Mode == Cluster && t.slot >= 0 {
		for n := 0; ; n++ { // some 16384 tries, a millisecond
			text := string(appendTag(nil, n))
			if int(key.Slot(text)) == t.slot {
				tag = text
				break
			}
		}
	}
	return i.opts.Prefix + "{" + tag + "}doctor"
}
