package fastlane

import (
	"net/http"
	"strconv"
	"testing"
	"time"
)

// keeper answers with what was kept of the call before in the same memory, and
// keeps its own message.
type keeper struct{ held chan *Call }

type keptText struct{ text string }

func (k *keeper) Take(c *Call, msg []byte) Step {
	mine, _ := c.Kept().(*keptText)
	before := "new"
	switch {
	case mine != nil:
		before = mine.text
		mine.text = string(msg)
	case !c.Keep(&keptText{string(msg)}):
		before = "no room"
	}
	switch {
	case string(msg) == "panic":
		panic("as it was asked to")
	case k.held != nil && string(msg) == "hold":
		k.held <- c
		return nil
	}
	c.Reply(append(c.Buffer(), before...))
	return nil
}

func awaitKept(t *testing.T, s *Server, want int64) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); s.kept.Load() != want; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d calls keep something, want %d", s.kept.Load(), want)
		}
	}
}

// What a call keeps the next in its memory finds, on its own connection only. Of a
// call that panicked nothing is used again.
func TestKept(t *testing.T) {
	s, addr := start(t, Options{
		Methods: map[string]Handler{echoPath: &keeper{}},
		Hooks:   Hooks{Panicked: func(any, []byte) {}},
	})
	p, other := newPeer(t, addr), newPeer(t, addr)
	for i, step := range []struct{ say, hear string }{
		{"a", "0 new"}, {"b", "0 a"}, {"panic", "13 "}, {"c", "0 new"}, {"d", "0 c"},
	} {
		id := uint32(2*i + 1)
		p.call(id, echoPath, step.say)
		if got := p.outcomes(1)[id]; got != step.hear {
			t.Errorf("%q: %q, want %q", step.say, got, step.hear)
		}
	}
	other.call(1, echoPath, "z")
	if got := other.outcomes(1)[1]; got != "0 new" {
		t.Errorf("another connection: %q", got)
	}
	awaitKept(t, s, 3) // and that of the panic
	_ = p.nc.Close()
	awaitKept(t, s, 1)
}

// What was not used for long is dropped, also while the connection is busy.
func TestKeptIsDropped(t *testing.T) {
	held := make(chan *Call, 4)
	s, addr := start(t, Options{Methods: map[string]Handler{echoPath: &keeper{held}}, RequestTimeout: 40 * time.Millisecond})
	p := newPeer(t, addr)
	for id := uint32(1); id < 8; id += 2 {
		p.call(id, echoPath, "hold")
	}
	var calls []*Call
	for range 4 {
		calls = append(calls, <-held)
	}
	for _, c := range calls { // not before: the next would be in its memory
		c.Reply(nil)
	}
	p.outcomes(4)
	awaitKept(t, s, 4)
	s.tick.Add(s.beats(idleMemory) + 1)
	p.call(9, echoPath, "used")
	p.outcomes(1)
	awaitKept(t, s, 1)
	p.call(11, echoPath, "again")
	if got := p.outcomes(1)[11]; got != "0 used" {
		t.Errorf("what is used: %q", got)
	}
	s.tick.Add(s.beats(idleMemory) + 1)
	awaitKept(t, s, 0)
	p.call(13, echoPath, "after")
	if got := p.outcomes(1)[13]; got != "0 new" {
		t.Errorf("after a pause: %q", got)
	}
}

// TestKeptIsGivenToFallback has calls of both kinds in turn, in the same memory.
func TestKeptIsGivenToFallback(t *testing.T) {
	s, addr := start(t, Options{
		Methods:  map[string]Handler{echoPath: &keeper{}},
		Fallback: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}),
	})
	p := newPeer(t, addr)
	for id := uint32(1); id < 400; id += 4 {
		p.call(id, echoPath, "x")
		p.outcome(id)
		p.call(id+2, "/elsewhere", "x")
		p.outcome(id + 2)
	}
	if n := s.kept.Load(); n > 2 {
		t.Errorf("%d calls keep something, of a connection with one at a time", n)
	}
}

// There is a bound for all connections of a server, and who finds no room is
// served all the same.
func TestKeptIsBounded(t *testing.T) {
	held := make(chan *Call, mostKept)
	s, addr := start(t, Options{Methods: map[string]Handler{echoPath: &keeper{held}}})
	const each = 1000
	var peers []*peer
	for n := 0; n < mostKept; n += each {
		p := newPeer(t, addr)
		peers = append(peers, p)
		for i := range min(each, mostKept-n) {
			p.call(uint32(2*i+1), echoPath, "hold")
		}
		for range min(each, mostKept-n) {
			<-held // they stay
		}
	}
	awaitKept(t, s, mostKept)
	last := newPeer(t, addr)
	for i := range 3 {
		id := uint32(2*i + 1)
		last.call(id, echoPath, strconv.Itoa(i))
		if got := last.outcomes(1)[id]; got != "0 no room" {
			t.Errorf("call %d: %q", i, got)
		}
	}
	_ = peers[0].nc.Close()
	awaitKept(t, s, mostKept-each)
	last.call(7, echoPath, "room")
	if got := last.outcomes(1)[7]; got != "0 new" {
		t.Errorf("with room again: %q", got)
	}
}
