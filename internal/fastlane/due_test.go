package fastlane

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/http2"
	"google.golang.org/grpc/codes"
)

// TestServedTogether sends calls in one write, whose handlers answer in every
// way there is: each gets its own answer, and its neighbours theirs.
func TestServedTogether(t *testing.T) {
	var panics sync.Map
	long := strings.Repeat("long", mostAtOnce/4+1)
	later := make(chan func(), 100)
	handler := HandlerFunc(func(c *Call, msg []byte) {
		text := string(msg)
		kind, _, _ := strings.Cut(text, " ")
		switch kind {
		case "once":
			c.Reply(append(c.Buffer(), msg...))
		case "own": // a buffer of the handler's, which it uses again
			b := []byte(text)
			c.Reply(b)
			clear(b)
		case "long":
			c.Reply(append(c.Buffer(), long...))
		case "empty":
			c.Reply(nil)
		case "twice":
			c.Reply(append(c.Buffer(), msg...))
			c.Reply([]byte("again"))
			c.Fail(codes.Aborted, "again")
		case "fail":
			c.Fail(codes.Aborted, text)
			c.Reply([]byte("again"))
		case "panic":
			panic(text)
		case "late-panic":
			c.Reply(append(c.Buffer(), msg...))
			panic(text)
		case "meanwhile": // by another goroutine, before it returns
			done := make(chan struct{})
			go func() { c.Reply([]byte(text)); close(done) }()
			<-done
		case "later":
			later <- func() { c.Reply([]byte(text)) }
		}
	})
	kinds := map[string]string{
		"once": "0 %s", "own": "0 %s", "long": "0 " + long, "empty": "0 ", "twice": "0 %s", "fail": "10 ",
		"panic": "13 ", "late-panic": "0 %s", "meanwhile": "0 %s", "later": "0 %s",
	}
	_, addr := start(t, Options{
		Methods: map[string]Handler{echoPath: handler},
		Hooks:   Hooks{Panicked: func(v any, _ []byte) { panics.Store(v, true) }},
	})
	p := newPeer(t, addr)
	p.must(p.fr.WriteWindowUpdate(0, 1<<30))
	var batch []byte
	want := make(map[uint32]string)
	id := uint32(1)
	for range 2 * mostDue / len(kinds) { // served in several parts
		for kind, answer := range kinds {
			text := fmt.Sprintf("%s %d", kind, id)
			block, m := p.block(usual(echoPath)...), message(text)
			batch = append(appendFrame(batch, len(block), frameHeaders, flagEndHeaders, id), block...)
			batch = append(appendFrame(batch, len(m), frameData, flagEndStream, id), m...)
			if strings.Contains(answer, "%s") {
				answer = fmt.Sprintf(answer, text)
			}
			want[id] = answer
			id += 2
		}
	}
	p.raw(batch)
	go func() {
		for range 2 * mostDue / len(kinds) {
			(<-later)()
		}
	}()
	got := p.outcomes(len(want))
	for id, text := range want {
		if got[id] != text {
			t.Errorf("call %d: %.60q, not %.60q", id, got[id], text)
		}
	}
	n := 0
	panics.Range(func(any, any) bool { n++; return true })
	if n != 2*(2*mostDue/len(kinds)) {
		t.Errorf("%d panics were told", n)
	}
}

// outcomes reads the ends of n calls: status and message of each.
func (p *peer) outcomes(n int) map[uint32]string {
	p.t.Helper()
	bodies, ends := make(map[uint32]string), make(map[uint32]string)
	for len(ends) < n {
		switch f := p.next().(type) {
		case *http2.HeadersFrame:
			all, err := p.dec.DecodeFull(f.HeaderBlockFragment())
			p.must(err)
			if !f.StreamEnded() {
				continue
			}
			for _, h := range all {
				if h.Name == "grpc-status" {
					ends[f.StreamID] = h.Value + " " + bodies[f.StreamID]
				}
			}
		case *http2.DataFrame:
			bodies[f.StreamID] += string(f.Data()[grpcPrefixLen:])
		case *http2.RSTStreamFrame, *http2.GoAwayFrame:
			p.t.Fatal(f)
		}
	}
	return ends
}

// steps tells which of its steps is taken, and panics in one if it is asked to.
type steps struct{ told chan string }

type step struct {
	of   *steps
	call *Call
	text string
}

func (s *steps) Take(c *Call, msg []byte) Step {
	x := &step{s, c, string(msg)}
	if x.tell("take"); x.text == "answered" {
		c.Reply(append(c.Buffer(), msg...))
		return nil
	}
	return x
}

func (x *step) Find() { x.tell("find") }

func (x *step) Fetch() { x.tell("fetch") }

func (x *step) Run() {
	x.tell("run")
	x.call.Reply(append(x.call.Buffer(), x.text...))
}

func (x *step) tell(what string) {
	x.of.told <- what + " " + x.text
	if x.text == "panic in "+what {
		panic(x.text)
	}
}

// Calls that were read together take their steps by turns, some at a time. Who
// panics in one takes no other and is answered, and so is everybody else.
func TestByTurns(t *testing.T) {
	told := make(chan string, 4*mostDue)
	panics := make(chan any, 16)
	_, addr := start(t, Options{
		Methods: map[string]Handler{echoPath: &steps{told: told}},
		Hooks:   Hooks{Panicked: func(v any, _ []byte) { panics <- v }},
	})
	p := newPeer(t, addr)
	texts := []string{"a", "answered", "panic in take", "panic in find", "panic in fetch", "panic in run", "b"}
	for len(texts) < abreast {
		texts = append(texts, "c")
	}
	texts = append(texts, "d", "e") // a part of their own
	var batch []byte
	want := make(map[uint32]string)
	for i, text := range texts {
		id := uint32(2*i + 1)
		block, m := p.block(usual(echoPath)...), message(text)
		batch = append(appendFrame(batch, len(block), frameHeaders, flagEndHeaders, id), block...)
		batch = append(appendFrame(batch, len(m), frameData, flagEndStream, id), m...)
		want[id] = "0 " + text
		if strings.HasPrefix(text, "panic") {
			want[id] = "13 "
		}
	}
	p.raw(batch)
	if got := p.outcomes(len(texts)); !maps.Equal(got, want) {
		t.Errorf("answered %v, want %v", got, want)
	}
	var order []string
	for _, some := range [][]string{texts[:abreast], texts[abreast:]} {
		turns := []string{"take", "find", "fetch", "run"}
		for turn, what := range turns {
			for _, text := range some {
				last := slices.Index(turns, strings.TrimPrefix(text, "panic in ")) // -1 for all of them
				if text == "answered" {
					last = 0
				}
				if last < 0 || turn <= last {
					order = append(order, what+" "+text)
				}
			}
		}
	}
	for i, w := range order {
		if got := <-told; got != w {
			t.Errorf("%d: %q, want %q", i, got, w)
		}
	}
	if len(told) != 0 || len(panics) != 4 {
		t.Errorf("%d more steps, %d panics told", len(told), len(panics))
	}
}

// tellGatherer is told of calls that were read together.
type tellGatherer chan string

func (g tellGatherer) Gather()   { g <- "gather" }
func (g tellGatherer) Gathered() { g <- "gathered" }

// A Gatherer stands around the calls of one read, whatever becomes of them, and
// is not told of one alone.
func TestGatherer(t *testing.T) {
	told := make(tellGatherer, 16)
	_, addr := start(t, Options{
		Methods: map[string]Handler{echoPath: HandlerFunc(func(c *Call, msg []byte) {
			told <- string(msg)
			if string(msg) == "panic" {
				panic("as it was asked to")
			}
			c.Reply(msg)
		})},
		Gatherer: told,
		Hooks:    Hooks{Panicked: func(any, []byte) {}},
	})
	p := newPeer(t, addr)
	id := uint32(1)
	for _, texts := range [][]string{{"alone"}, {"a", "panic", "b"}, {"alone"}, {"a", "b"}} {
		var batch []byte
		for _, text := range texts {
			block, m := p.block(usual(echoPath)...), message(text)
			batch = append(appendFrame(batch, len(block), frameHeaders, flagEndHeaders, id), block...)
			batch = append(appendFrame(batch, len(m), frameData, flagEndStream, id), m...)
			id += 2
		}
		p.raw(batch)
		p.outcomes(len(texts))
		want := texts
		if len(texts) > 1 {
			want = append(append([]string{"gather"}, texts...), "gathered")
		}
		for _, w := range want {
			if got := <-told; got != w {
				t.Errorf("of %q: %q, want %q", texts, got, w)
			}
		}
	}
}
