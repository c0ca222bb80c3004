package degrade

import (
	"sync/atomic"

	"github.com/weirlimit/weir/internal/degrade/share"
	"github.com/weirlimit/weir/internal/keytable"
)

// book is the table of what is known of keys. News come with every answer of the
// store and are seldom read, and with many keys the record of each is in memory
// that no cache has. So they are noted, and the notes of a shard entered together:
// their records are waited for at once, and not one after the other. Who reads a
// record has the notes of its shard entered first, and never sees that.
type book struct {
	table *keytable.Table[share.State]
	pages []page        // of each shard, under its lock
	seen  *atomic.Int64 // is told of keys that were not known
}

// page is the notes of a shard.
type page struct {
	n     int
	notes [8]note // as many as a core fetches at once; twice as many gain nothing
	door  door
}

type note struct {
	id    keytable.ID
	news  share.News
	again bool // in place of an earlier one
}

func (b *book) init(keys int, seen *atomic.Int64) {
	b.table, b.seen = keytable.New[share.State](keys), seen
	b.pages = make([]page, b.table.Shards())
}

// note takes news of a key.
func (b *book) note(id keytable.ID, news share.News) {
	place := b.table.Place(id)
	shard, p := b.table.LockPlace(place), &b.pages[place]
	if p.n > 0 && p.notes[p.n-1].id == id { // a key that everybody asks for
		last := &p.notes[p.n-1]
		if last.again = true; !news.Before(last.news) {
			last.news = news
		}
		shard.Unlock()
		return
	}
	p.notes[p.n] = note{id: id, news: news}
	if p.n++; p.n == len(p.notes) {
		b.enter(shard, p)
	}
	shard.Unlock()
}

// lock is the table's, with all notes entered.
func (b *book) lock(id keytable.ID) *keytable.Shard[share.State] {
	place := b.table.Place(id)
	shard := b.table.LockPlace(place)
	b.enter(shard, &b.pages[place])
	return shard
}

// enter writes the notes of a shard, which is locked, into its records.
func (b *book) enter(shard *keytable.Shard[share.State], p *page) {
	notes := p.notes[:p.n]
	var hints [len(p.notes)]int
	for i := range notes {
		hints[i] = shard.Expect(notes[i].id)
	}
	unknown := int64(0)
	for i := range notes {
		n := &notes[i]
		if hints[i] < 0 && shard.Full() && !n.again && !p.door.admits(n.id) {
			unknown++
			continue
		}
		s, fresh := shard.PutExpected(n.id, hints[i])
		s.Learn(n.news)
		if fresh {
			unknown++
		}
	}
	p.n = 0
	if unknown > 0 {
		b.seen.Add(unknown)
	}
}

// keys is how many there are.
func (b *book) keys() int {
	for i := range b.pages {
		shard := b.table.LockPlace(i)
		b.enter(shard, &b.pages[i])
		shard.Unlock()
	}
	return b.table.Len()
}
