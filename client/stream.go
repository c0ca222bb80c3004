package client

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"time"

	"google.golang.org/grpc"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/wire"
)

const (
	// maxMessage is what a server takes, less what surrounds the checks.
	maxMessage = 64<<10 - 64

	// A stream that breaks is made again after backoffFirst, which doubles up to
	// backoffMost while no answer is had, with full jitter.
	backoffFirst = 20 * time.Millisecond
	backoffMost  = 2 * time.Second
)

// run keeps a stream until ctx ends.
func (l *lane) run(ctx context.Context) {
	pause, wait := backoffFirst, false
	for ctx.Err() == nil {
		end := l.converse(ctx, wait)
		if end.inOrder {
			wait = false // checks wait meanwhile: a connection that is refused should say so
			continue
		}
		l.broke()
		wait = true // nobody waits: as long as it takes
		if end.answered {
			pause = backoffFirst
		}
		select {
		case <-ctx.Done():
		case <-time.After(rand.N(pause) + 1):
		}
		pause = min(2*pause, backoffMost)
	}
}

// ending is how a stream ended.
type ending struct {
	inOrder  bool // all that was sent was answered
	answered bool // something was
}

// converse makes one stream and serves it to its end. With wait it waits for a
// connection; without, one that fails fails it.
func (l *lane) converse(ctx context.Context, wait bool) (end ending) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	left := l.client.left.Load()
	s, err := l.client.limiter.CheckBatch(ctx, grpc.WaitForReady(wait))
	if err != nil {
		return end
	}
	l.connected()
	if l.client.left.Load() != left { // its connection may have been left before it was up
		l.roll()
	}
	rolled := make(chan bool, 1)
	go func() { rolled <- l.write(ctx, s) }()
	in := new(weirv1.CheckBatchResponse)
	for err == nil {
		if err = s.RecvMsg(in); err == nil {
			end.answered = true
			l.answer(in)
		}
	}
	cancel()
	end.inOrder = <-rolled && errors.Is(err, io.EOF)
	return end
}

func (l *lane) connected() {
	l.mu.Lock()
	if l.mu.state != closed {
		l.mu.state = up
	}
	l.mu.rolling, l.mu.missed = false, 0
	l.mu.Unlock()
	signal(l.filled) // of what waited for the stream
}

// roll ends the stream in good order: its server is going away.
func (l *lane) roll() {
	l.mu.Lock()
	l.mu.rolling = l.mu.state == up
	l.mu.Unlock()
	signal(l.filled)
}

// write sends what is queued, all that is there in a message, until ctx ends or
// the stream is to roll.
func (l *lane) write(ctx context.Context, s weirv1.Limiter_CheckBatchClient) (rolled bool) {
	var batch []*call
	m := new(weirv1.CheckBatchRequest)
	for {
		select {
		case <-ctx.Done():
			return false
		case <-l.filled:
		}
		for {
			var roll bool
			if batch, roll = l.take(batch[:0]); roll {
				return s.CloseSend() == nil
			}
			if len(batch) == 0 {
				break
			}
			m.Checks = m.Checks[:0]
			for _, c := range batch {
				m.Checks = append(m.Checks, &c.asked.Message)
			}
			err := s.SendMsg(m)
			l.wrote(batch)
			if err != nil {
				return false // the receiver is told why
			}
		}
	}
}

// take moves the next message's calls from the queue into batch.
func (l *lane) take(batch []*call) (_ []*call, roll bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.rolling {
		return batch, true
	}
	n, size := 0, 0
	for ; n < len(l.mu.queue) && len(batch) < wire.MaxChecks; n++ {
		c := l.mu.queue[n]
		if c.over { // its deadline passed unsent
			l.freeLocked(c)
			continue
		}
		if size += c.asked.Size; size > maxMessage {
			break
		}
		c.stage = writing
		batch = append(batch, c)
	}
	l.mu.queue = l.mu.queue[:copy(l.mu.queue, l.mu.queue[n:])]
	return batch, false
}

// wrote gives back the calls of a message that was written, or may have been.
func (l *lane) wrote(batch []*call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range batch {
		c.stage = sent
		if c.over {
			l.freeLocked(c)
		}
	}
}

// answered is a check with its answer.
type answered struct {
	ticket
	with *weirv1.CheckResponse
}

// answer hands the answers of a message to whom they belong.
func (l *lane) answer(in *weirv1.CheckBatchResponse) {
	ready := l.ready[:0]
	late := 0
	l.mu.Lock()
	l.mu.missed = 0
	for _, r := range in.GetResults() {
		slot := r.GetNumber() % MaxOutstanding
		if slot >= uint64(len(l.mu.calls)) || !l.mu.calls[slot].waitsLocked(r.GetNumber()) {
			late++
			continue
		}
		ready = append(ready, answered{l.detachLocked(l.mu.calls[slot]), r})
	}
	l.mu.Unlock()
	l.client.lost(weir.LossLateAnswer, late)
	for i := range ready {
		l.client.decided(ready[i].ticket, ready[i].with)
	}
	clear(ready)
	l.ready = ready
}

// broke answers all that is outstanding without the server. What was sent may
// have been charged, and is not sent again.
func (l *lane) broke() {
	var gone []ticket
	uncertain := 0
	l.mu.Lock()
	if l.mu.state != closed {
		l.mu.state = down
	}
	for _, c := range l.mu.queue {
		c.stage = sent // nobody has it any more
		if c.over {
			l.freeLocked(c)
			continue
		}
		gone = append(gone, l.detachLocked(c))
	}
	l.mu.queue = l.mu.queue[:0]
	for _, c := range l.mu.calls {
		if c.stage == sent {
			gone = append(gone, l.detachLocked(c))
			uncertain++
		}
	}
	l.mu.Unlock()
	l.client.lost(weir.LossUncertain, uncertain)
	for _, t := range gone {
		l.client.undecided(t, errBroke)
	}
}
