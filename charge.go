package weir

import (
	"fmt"
	"time"
)

// Mode says what a Charge does to its key and to the verdict of its Entry.
//
//	mode     changes the key                       can deny the entry
//	Enforce  by cost, when the entry is admitted   when cost does not fit
//	Shadow   by cost, when admitted and it fits    never
//	Always   by cost, fits or not, admitted or not when cost does not fit
//	Peek     never                                 when cost does not fit
//	Refund   gives cost back, floored at empty     never
//	UpTo     by what is there, at most cost        never: it may be granted 0
//
// A cost of 0 is a peek in every mode, and always fits.
type Mode uint8

// The modes.
const (
	Enforce Mode = iota
	Shadow
	Always
	Peek
	Refund
	UpTo

	modes
)

var modeNames = [modes]string{"enforce", "shadow", "always", "peek", "refund", "up_to"}

func (m Mode) String() string {
	if m >= modes {
		return fmt.Sprintf("mode(%d)", uint8(m))
	}
	return modeNames[m]
}

// Bounds on a Store's input.
const (
	MaxKeyBytes = 64 << 10 // a key's length
	MaxIDBytes  = 256      // a request id's length
	MaxCharges  = 64       // charges in an entry
)

// Charge is one key to be charged under one meter.
type Charge struct {
	// Key names the counter. Any bytes are distinct from any others. A store
	// that is sharded places it by its hash tag, as Redis Cluster does.
	Key   string
	Meter *Meter
	Cost  int64 // 0 or more; for UpTo, what is wanted
	Mode  Mode
	// Group, when not 0, makes a set of Enforce or Always charges that denies
	// only when none of its members has room (quota groups). Enforce members
	// without room are then not charged, the others are.
	Group uint8
	// Twinning is how Twin and Key go together; none without a Twin.
	Twinning Twinning
	// Twin is another name of the same counter, or empty: see Twinning. It has
	// the hash tag of Key.
	Twin string
}

// Entry is one request's charges, decided together: when any denies, none is
// charged (Always aside). Within one slot that is atomic; across slots what
// was charged is refunded.
//
// The caller fills the first block; the store fills the second.
type Entry struct {
	Charges []Charge
	// ID names the request, or is empty. A second entry with the same id, keys,
	// costs and modes within 10 minutes of one that was admitted is not charged
	// again: it gets the first answer. A denied entry that charged nothing is
	// decided afresh. For concurrency the id is the owner of the unit, and
	// required.
	ID string

	Outcomes []Outcome // one per charge, reusing the slice's memory when it can
	Admitted bool
	Replayed bool   // the answer of an earlier entry with the same id
	Now      Micros // the store's clock when it decided
	Err      error  // an *Error: nothing above Err is then meaningful
}

// Batch is what a Store is asked at once.
type Batch struct {
	Entries []Entry
	// Deadline is when an answer is no longer of use. The zero value leaves it
	// to the store's default.
	Deadline time.Time
	// Asked is when the batch was made, by a clock that is not set. Who knows it
	// saves the store a look at its own; the zero value has it look.
	Asked time.Time
	// Soon, unless nil, may be called once by a store that answers many batches in
	// a row, some before this one: the time to fetch memory that is then needed. It
	// must not block, and leave the batch alone.
	Soon func()
}

// Validate returns an *Error that names the field at fault, or nil. Stores
// call it; it does not allocate when the entry is valid.
func (e *Entry) Validate() error {
	if len(e.Charges) == 0 || len(e.Charges) > MaxCharges {
		return invalid("charges", "an entry has 1 to %d charges, not %d", MaxCharges, len(e.Charges))
	}
	if len(e.ID) > MaxIDBytes {
		return invalid("id", "longer than %d bytes", MaxIDBytes)
	}
	upTo := 0
	for i := range e.Charges {
		c := &e.Charges[i]
		if err := c.validate(e.ID); err != nil {
			err.Field = fmt.Sprintf("charges[%d].%s", i, err.Field)
			return err
		}
		if c.Mode == UpTo {
			upTo++
		}
		for j := range i {
			if other := &e.Charges[j]; other.Key == c.Key || (c.Twinning|other.Twinning != TwinNone && c.sharesName(other)) {
				return nameTwice(c, other, i, j)
			}
		}
	}
	if upTo > 0 && upTo != len(e.Charges) {
		return invalid("charges", "up_to charges stand with up_to charges only")
	}
	return nil
}

// nameTwice is the error for charge i, which has a name of charge j.
func nameTwice(c, other *Charge, i, j int) error {
	field, its := "key", "key"
	if c.Key != other.Key && c.Key != other.Twin {
		field = "twin"
	}
	if c.Key != other.Key && c.Twin != other.Key {
		its = "twin"
	}
	return invalid(fmt.Sprintf("charges[%d].%s", i, field), "is also the %s of charges[%d]", its, j).
		withHint("add the costs and charge the key once")
}

func (c *Charge) validate(id string) *Error {
	switch {
	case c.Key == "":
		return invalid("key", "is empty")
	case len(c.Key) > MaxKeyBytes:
		return invalid("key", "longer than %d bytes", MaxKeyBytes)
	case c.Meter == nil:
		return invalid("meter", "is missing").withHint("make one with weir.NewMeter")
	case c.Meter.Den == 0:
		return invalid("meter", "was not made by weir.NewMeter")
	case c.Cost < 0:
		return invalid("cost", "%d is below 0", c.Cost).withHint("use mode refund to give units back")
	case c.Mode >= modes:
		return invalid("mode", "no such mode: %d", uint8(c.Mode))
	case c.Group != 0 && c.Mode != Enforce && c.Mode != Always:
		return invalid("group", "a %s charge cannot be in a group", c.Mode)
	case c.Meter.Machine == Slots && (c.Mode == Always || c.Mode == UpTo):
		return invalid("mode", "concurrency has no mode %s", c.Mode)
	case c.Meter.Machine == Slots && c.Mode != Peek && c.Cost > 0 && id == "":
		return invalid("id", "concurrency needs the request's id to release by")
	case c.Twinning != TwinNone || c.Twin != "":
		return c.validateTwin()
	}
	return nil
}
