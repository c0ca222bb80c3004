package degrade

import (
	"sync"
	"sync/atomic"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/degrade/share"
	"github.com/weirlimit/weir/internal/keytable"
	"github.com/weirlimit/weir/internal/stage"
)

// The defaults of BackstopOptions.
const (
	DefaultKeys   = 1 << 18
	DefaultStrict = 4
)

// BackstopOptions configures a Backstop. The zero value is good for an instance
// that is alone.
type BackstopOptions struct {
	// Keys is how many keys are remembered; 0 is DefaultKeys.
	Keys int
	// Instances is how many share the limits, this one included; it is asked once
	// per answer and must not block. nil is 1, and so is what is below.
	Instances func() int
	// Strict is how many times smaller a share is under a policy that fails by
	// local; 0 is DefaultStrict.
	Strict int
}

// Backstop decides in the store's place. Make one with NewBackstop.
type Backstop struct {
	instances func() int
	strict    int
	book      book
	seen      atomic.Int64 // keys that were not known, less those that were reset
	crowd     int64        // of which, from when on the table may have forgotten some
	desks     sync.Pool

	// entries keeps the charges of an entry together: one of several charges is
	// decided alone, those of one beside each other. It comes before a lock of
	// the table. Learn does without it: what the store says of a key while that
	// is decided may be lost, and is said again.
	entries sync.RWMutex
}

var _ engine.Backstop = (*Backstop)(nil)

// NewBackstop returns a backstop that knows nothing yet.
func NewBackstop(o BackstopOptions) *Backstop {
	if o.Keys <= 0 {
		o.Keys = DefaultKeys
	}
	if o.Strict <= 0 {
		o.Strict = DefaultStrict
	}
	if o.Instances == nil {
		o.Instances = func() int { return 1 }
	}
	b := &Backstop{
		instances: o.Instances, strict: o.Strict,
		crowd: int64(o.Keys) - int64(o.Keys)/16, // its parts do not fill evenly
	}
	b.book.init(o.Keys, &b.seen)
	b.desks.New = func() any { return new(desk) }
	return b
}

// Keys is how many keys are remembered.
func (b *Backstop) Keys() int { return b.book.keys() }

// Learn implements engine.Backstop.
func (b *Backstop) Learn(a *stage.Ask) {
	e := a.Entry
	if e.Replayed {
		return // what was left when it was first asked
	}
	for i := range e.Charges {
		c := &e.Charges[i]
		if c.Meter.Machine == weir.Slots {
			continue // units that are given back at any time say nothing of later
		}
		b.book.note(a.Hints[i].ID, share.NewsOf(c.Meter, e.Outcomes[i].Remaining, a.Now))
	}
}

// Forget implements engine.Backstop.
func (b *Backstop) Forget(key string) {
	id := keytable.Of(key)
	shard := b.book.lock(id)
	defer shard.Unlock()
	if shard.Find(id) != nil {
		shard.Drop(id)
		b.seen.Add(-1)
	}
}

// Answer implements engine.Backstop.
func (b *Backstop) Answer(a *stage.Ask) {
	d := b.desks.Get().(*desk)
	d.prepare(b, a)
	if c := a.Entry.Charges; len(c) == 1 && c[0].Twin == "" {
		b.answerOne(a, d)
	} else {
		b.answerAll(a, d)
	}
	b.desks.Put(d)
}

// answerOne decides on the record itself.
func (b *Backstop) answerOne(a *stage.Ask, d *desk) {
	b.entries.RLock()
	defer b.entries.RUnlock()
	id := a.Hints[0].ID
	shard := b.book.lock(id)
	defer shard.Unlock()
	s, fresh := shard.Put(id)
	if fresh {
		b.begin(s, a, 0, d)
	}
	d.parts[0].State = s
	d.share.Answer(a.Entry, a.Now, d.parts)
}

// answerAll decides on copies: no two shards of the table are locked at once.
func (b *Backstop) answerAll(a *stage.Ask, d *desk) {
	b.entries.Lock()
	defer b.entries.Unlock()
	for i := range a.Hints {
		b.load(a, i, d)
		d.parts[i].State = &d.states[i]
	}
	d.share.Answer(a.Entry, a.Now, d.parts)
	for i := range a.Hints {
		shard := b.book.lock(a.Hints[i].ID)
		s, _ := shard.Put(a.Hints[i].ID)
		*s = d.states[i]
		shard.Unlock()
	}
}

func (b *Backstop) load(a *stage.Ask, i int, d *desk) {
	id := a.Hints[i].ID
	shard := b.book.lock(id)
	s, fresh := shard.Put(id)
	d.states[i] = *s
	shard.Unlock()
	if !fresh {
		return
	}
	b.begin(&d.states[i], a, i, d)
	twin := a.Entry.Charges[i].Twin
	if twin == "" {
		return
	}
	// The counter had another name a moment ago.
	id = keytable.Of(twin)
	shard = b.book.lock(id)
	if s := shard.Find(id); s != nil {
		d.states[i] = *s
	}
	shard.Unlock()
}

// begin is for a key that is not known.
func (b *Backstop) begin(s *share.State, a *stage.Ask, i int, d *desk) {
	if b.seen.Add(1) > b.crowd {
		m := share.Of(a.Entry.Charges[i].Meter, d.parts[i].Parts)
		s.Crowd(&m, a.Now)
	}
}
