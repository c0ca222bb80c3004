package pseudonym_test

import (
	"errors"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/pseudonym"
)

func TestAccept(t *testing.T) {
	const turn = 30 * weir.Minute
	const over = turn + 3*weir.Minute + weir.Hour // the first salt is of no more use
	two := config(0, turn)
	change := func(f func(*pseudonym.Config)) pseudonym.Config {
		c := config(0, turn)
		f(&c)
		return c
	}
	without := func(i int) pseudonym.Config {
		return change(func(c *pseudonym.Config) { c.Salts = append(c.Salts[:i:i], c.Salts[i+1:]...) })
	}
	moved := change(func(c *pseudonym.Config) { c.Salts[1].From += weir.Hour })
	forged := change(func(c *pseudonym.Config) { c.Salts[1].Secret = secret(99) })
	slots := change(func(c *pseudonym.Config) { c.Slots = secret(99) })
	wider := change(func(c *pseudonym.Config) { c.Overlap = 2 * weir.Minute })
	longer := change(func(c *pseudonym.Config) { c.Retention = weir.Day })
	third := config(0, turn, turn+weir.Day)
	between := change(func(c *pseudonym.Config) {
		c.Salts = []pseudonym.Salt{c.Salts[0], {ID: "x", From: epoch + 10*weir.Minute, Secret: secret(98)}, c.Salts[1]}
		c.Salts[2].From += 2 * weir.Hour
	})
	for name, tc := range map[string]struct {
		next  pseudonym.Config
		at    weir.Micros
		field string // empty: accepted
	}{
		"the same":                         {two, turn, ""},
		"another salt to come":             {third, turn, ""},
		"a longer retention":               {longer, turn, ""},
		"the eldest goes, needed":          {without(0), over - 1, "salts"},
		"the eldest goes, not needed":      {without(0), over, ""},
		"the next goes before anyone used": {without(1), turn - 2*weir.Minute - 1, ""},
		"the next goes, in use":            {without(1), turn - 2*weir.Minute, "salts"},
		"the last goes":                    {without(1), over + weir.Day, "salts"},
		"other bytes":                      {forged, 0, "salts"},
		"moved in time":                    {moved, turn - 2*weir.Minute - 1, ""},
		"moved too late":                   {moved, turn - 2*weir.Minute, "salts"},
		"other slots":                      {slots, over, "slots"},
		"overlap before":                   {wider, turn - 4*weir.Minute - 1, ""},
		"overlap meanwhile":                {wider, turn - 4*weir.Minute, "overlap"},
		"overlap after":                    {wider, turn + 4*weir.Minute, ""},
		"one in between":                   {between, 0, ""},
	} {
		err := ring(t, two).Accept(ring(t, tc.next), epoch+tc.at)
		e, _ := errors.AsType[*weir.Error](err)
		if (err == nil) != (tc.field == "") || e != nil && (e.Field != tc.field || e.Hint == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A salt before one that is in use changes what that one follows.
	first := config(0, turn)
	first.Salts = first.Salts[1:]
	if err := ring(t, first).Accept(ring(t, two), epoch+over); err == nil {
		t.Error("a salt before the one in use is taken")
	}
}

func TestLate(t *testing.T) {
	const turn = 30 * weir.Minute
	one, two := ring(t, config(0)), ring(t, config(0, turn))
	if late := one.Late(two, epoch+turn-weir.Minute-1); len(late) != 0 {
		t.Errorf("in time, and late: %v", late)
	}
	if late := one.Late(two, epoch+turn-weir.Minute); len(late) != 1 || late[0].ID != "b" {
		t.Errorf("late: %v", late)
	}
	if late := two.Late(two, epoch+weir.Day); len(late) != 0 {
		t.Errorf("known, and late: %v", late)
	}
}
