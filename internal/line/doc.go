// Package line decides who waits for a place, who gets one and who is sent away,
// when a service has more requests than places. It is a state machine: the time
// is an argument, and nothing here blocks, allocates a goroutine or reads a clock.
//
//	             a place is free
//	Arrive ----------------------------------------> inside --Leave--> gone
//	   |                                               ^
//	   | room for its class                            | Leave of another: the highest
//	   +------------------> waiting -------------------+ class first, then the oldest
//	   |                    |  |  |
//	   |                    |  |  +-- GiveUp ---------------> gone
//	   |                    |  +-- displaced by a higher class, when the line is full
//	   |                    +-- the level rises above its class
//	   v                    v
//	  shed                 shed
//
// Requests have classes, 0 the least. The line has room for a class up to a share
// of its length, so that it fills from below; a higher class takes the place of
// the lowest that waits. Besides, a Level rises while the line does not drain, and
// classes below it are shed on arrival. Whatever is shed, everything of a lower
// class would be shed at the same instant. The highest class is below no level: it
// is shed only when the line is full of its own kind.
//
// A Line and a Level are not safe for concurrent use. They do not fail: a time that
// goes back is taken for the latest one seen.
package line
