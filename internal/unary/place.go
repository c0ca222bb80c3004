package unary

import (
	"sync"

	"github.com/weirlimit/weir"
)

// Place is what a method has for one call after the other: part of its memory for
// a call. It stays with the call's own memory where the server has room for it (see
// Call), so that the next call there finds what the last one said; else it is one
// of a pool.
type Place struct {
	// Self is the memory that the place is part of.
	Self any
	// Call is whose place it is.
	Call Call
	// Seat is where it is decided.
	Seat Seat

	of    *Places
	stays bool
}

// Places are those of a method.
type Places struct {
	turns bool
	pool  sync.Pool
}

// NewPlaces returns the places of a method that asks engine. fresh makes memory for
// one more call, of which place is to be part, and returns both.
func NewPlaces(engine weir.AsyncChecker, fresh func() (self any, place *Place)) *Places {
	p := &Places{turns: byTurns(engine)}
	p.pool.New = func() any {
		self, place := fresh()
		place.Self, place.Seat, place.of = self, seatOf(engine), p
		return place
	}
	return p
}

// At returns the place of a call.
func (p *Places) At(c Call) *Place {
	x, ok := c.Kept().(*Place)
	if !ok || x.of != p {
		x = p.pool.Get().(*Place)
		x.stays = c.Keep(x)
	}
	x.Call = c
	return x
}

// Step is what is left to do once the seat is prepared. Where there is nothing to
// fetch that is done at once.
func (x *Place) Step() Step {
	if x.of.turns {
		return x.Seat
	}
	x.Seat.Run()
	return nil
}

// Answer answers the call. What stays with it is another's as soon as that is
// done.
func (x *Place) Answer(a Answer, err error) {
	stays := x.stays
	conclude(x.Call, a, err)
	x.leave(stays)
}

// Leave follows a call that was answered by Take, on whose goroutine the next one
// is taken.
func (x *Place) Leave() { x.leave(x.stays) }

func (x *Place) leave(stays bool) {
	if !stays {
		x.Call = nil
		x.of.pool.Put(x)
	}
}
