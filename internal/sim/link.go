package sim

import (
	"cmp"
	"context"
	"slices"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/breaker"
)

// How long a node waits for an answer: to a request as an engine does, to a
// lease for a refresh interval.
const (
	patience      = 10 * weir.Millisecond
	leasePatience = 100 * weir.Millisecond
)

// link is a node's way to the servers, as redisstore is: a breaker before each,
// a deadline that holds whatever happens, and nothing is sent twice.
type link struct {
	n        *node
	breakers []*breaker.Breaker // one per shard
}

var _ weir.Store = (*link)(nil)

func newLink(n *node, conf breaker.Config) *link {
	conf.Span = cmp.Or(conf.Span, 20*weir.Millisecond) // as redisstore's
	l := &link{n: n}
	conf.Jitter = n.chance.Float64
	for range n.w.servers {
		l.breakers = append(l.breakers, breaker.New(conf))
	}
	return l
}

var (
	errOpen    = &weir.Error{Code: weir.CodeRefused, Message: "the breaker is open"}
	errRefused = &weir.Error{Code: weir.CodeRefused, Message: "the server refuses"}
	errTimeout = &weir.Error{Code: weir.CodeTimeout, Message: "no answer in time"}
)

// call is a message on its way, and back.
type call struct {
	l        *link
	t        *tenant
	batch    *weir.Batch
	done     func(*weir.Batch)
	ticket   breaker.Ticket
	sent     weir.Micros // by the node's clock
	deadline weir.Micros
	copied   weir.Entry // what is sent: the batch is its owner's again at the deadline
	lease    bool
	over     bool
}

// Submit implements weir.Store for batches of one entry, which is what engines
// and leases ask with.
func (l *link) Submit(b *weir.Batch, done func(*weir.Batch)) {
	e := &b.Entries[0]
	c := &call{l: l, t: l.n.w.tenantOf(e.Charges[0].Key), batch: b, done: done, sent: l.n.now(), lease: e.Charges[0].Mode == weir.UpTo}
	ticket, ok := l.breakers[c.t.shard].Allow(c.sent)
	if !ok {
		e.Err = errOpen
		done(b)
		return
	}
	c.ticket, c.copied = ticket, weir.Entry{Charges: slices.Clone(e.Charges)}
	wait := patience
	if c.lease {
		wait = leasePatience
		l.n.wished(c)
	}
	c.deadline = l.n.w.now + wait
	c.send()
	l.n.at(c.deadline, c.expire)
}

// send is the way there and back, if the messages arrive.
func (c *call) send() {
	w, n := c.l.n.w, c.l.n
	server := w.servers[c.t.shard]
	if w.onSend != nil {
		w.onSend(n)
	}
	if !n.reaches(c.t) {
		return
	}
	w.after(n.delay(c.t), func() {
		server.receive(&c.copied, func(decided bool) {
			if n.reaches(c.t) {
				n.at(w.now+n.delay(c.t), func() { c.answer(decided) })
			}
		})
	})
}

// answer is what came back. Too late is not at all: expire is next.
func (c *call) answer(decided bool) {
	n := c.l.n
	if c.over || n.w.now >= c.deadline {
		return
	}
	e := &c.batch.Entries[0]
	if decided {
		e.Outcomes = append(e.Outcomes[:0], c.copied.Outcomes...)
		e.Admitted, e.Now, e.Err = c.copied.Admitted, c.copied.Now, nil
		if c.lease {
			n.granted(c)
		}
	} else {
		e.Err = errRefused
	}
	c.finish(!decided)
}

func (c *call) expire() {
	if !c.over {
		c.batch.Entries[0].Err = errTimeout
		c.finish(true)
	}
}

func (c *call) finish(failed bool) {
	c.over = true
	b := c.l.breakers[c.t.shard]
	before := b.State()
	b.Done(c.l.n.now(), c.ticket, failed)
	if b.State() != before {
		c.l.n.note("breaker of shard %d is now "+b.State().String(), "", int64(c.t.shard), 0)
	}
	c.done(c.batch)
}

// The rest of a Store is not asked for here.

// Decide is not used: nobody waits in virtual time.
func (l *link) Decide(_ context.Context, b *weir.Batch) { b.Entries[0].Err = errRefused }

// Read is not used.
func (l *link) Read(context.Context, string, *weir.Meter) (weir.Outcome, error) {
	return weir.Outcome{}, errRefused
}

// Reset is not used.
func (l *link) Reset(context.Context, string) error { return errRefused }

// Close does nothing.
func (l *link) Close() error { return nil }
