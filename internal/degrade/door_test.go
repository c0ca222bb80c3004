package degrade

import (
	"strconv"
	"testing"

	"github.com/weirlimit/weir/internal/degrade/share"
	"github.com/weirlimit/weir/internal/keytable"
)

func TestDoor(t *testing.T) {
	var d door
	at := 0
	next := func() keytable.ID { at++; return keytable.Of(strconv.Itoa(at)) }
	// Whoever comes a second time is let in.
	for range doorBits / 2 {
		id := next()
		d.admits(id)
		if !d.admits(id) {
			t.Fatalf("number %d is not let in the second time", at)
		}
	}
	// Strangers are let in by mistake only, and there is no end to that.
	const strangers = 100_000
	let := 0
	for range strangers {
		if d.admits(next()) {
			let++
		}
	}
	if let == 0 || let > strangers/4 {
		t.Errorf("%d of %d strangers are let in", let, strangers)
	}
	// Who was met long ago is a stranger.
	let = 0
	for at = 0; at < doorBits/2; {
		if d.admits(next()) {
			let++
		}
	}
	if let > doorBits/4 {
		t.Errorf("%d of %d are let in whom nobody can remember", let, doorBits/2)
	}
}

// TestRefusedAreSeen: shards do not fill evenly. Who is refused by one may be
// anybody later, whatever room the others have.
func TestRefusedAreSeen(t *testing.T) {
	const keys = 128
	b := NewBackstop(BackstopOptions{Keys: keys})
	for i, n := 0, 0; n < 2*keys; i++ {
		if id := keytable.Of(strconv.Itoa(i)); b.book.table.Place(id) == 0 {
			b.book.note(id, share.News{})
			n++
		}
	}
	if held := b.Keys(); held == keys || b.seen.Load() <= b.crowd {
		t.Errorf("%d keys are held of %d, and %d were seen", held, keys, b.seen.Load())
	}
}
