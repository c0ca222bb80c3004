package redistest

import (
	"fmt"
	"slices"
	"strconv"
)

// MigrateSlots moves slots and their keys from one primary to another, live, as
// redis-cli --cluster reshard does: begin, move the keys, finish. It returns
// once every running node knows the new owner.
//
// Between [Cluster.BeginMigrate] and [Cluster.FinishMigrate] a slot is in the
// ASK window:
//
//	key               source        target          target after ASKING
//	still at source   served        MOVED           absent, or created anew
//	moved             ASK           MOVED           served
//	of several, some  TRYAGAIN      MOVED           TRYAGAIN
func (c *Cluster) MigrateSlots(from, to *Server, slots ...int) {
	c.t.Helper()
	c.BeginMigrate(from, to, slots...)
	c.FinishMigrate(from, to, slots...)
}

// BeginMigrate opens the ASK window of slots that from owns. No key has moved
// yet, and keys that do not exist are asked for at the target.
func (c *Cluster) BeginMigrate(from, to *Server, slots ...int) {
	c.t.Helper()
	for _, slot := range slots {
		// The target first: the source may send clients there at once.
		to.MustDo("CLUSTER", "SETSLOT", strconv.Itoa(slot), "IMPORTING", c.ids[from])
		from.MustDo("CLUSTER", "SETSLOT", strconv.Itoa(slot), "MIGRATING", c.ids[to])
	}
}

// MoveKeys moves some keys of slots between BeginMigrate and FinishMigrate.
// Keys that do not exist are left out.
func (c *Cluster) MoveKeys(from, to *Server, keys ...string) {
	c.t.Helper()
	if len(keys) == 0 {
		return
	}
	args := []string{
		"MIGRATE", "127.0.0.1", strconv.Itoa(to.Port()), "", "0",
		strconv.FormatInt(commandBound.Milliseconds()/2, 10),
	}
	if user, password := to.cfg.credentials(); password != "" {
		args = append(args, "AUTH2", user, password)
	}
	from.MustDo(append(append(args, "KEYS"), keys...)...)
}

// FinishMigrate moves the keys that are left, gives the slots to the target,
// which closes the ASK window, and returns once every running node knows.
func (c *Cluster) FinishMigrate(from, to *Server, slots ...int) {
	c.t.Helper()
	// The target first: were the source to give up a slot first, and fail,
	// nobody would own it.
	owners := []*Server{to, from}
	for _, n := range c.Primaries() {
		if n.running() && !slices.Contains(owners, n) {
			owners = append(owners, n)
		}
	}
	for _, slot := range slots {
		c.moveSlot(from, to, slot)
		for _, n := range owners {
			n.MustDo("CLUSTER", "SETSLOT", strconv.Itoa(slot), "NODE", c.ids[to])
		}
	}
	mustAwait(c.t, "all nodes to know the slots' new owner", func() error {
		return c.agree(func(top topology) error {
			for _, slot := range slots {
				if top.owner(slot) != c.ids[to] {
					return fmt.Errorf("slot %d is not at %s", slot, to.Addr())
				}
			}
			return nil
		})
	})
}

// moveSlot moves all keys of a slot. It ends: while the slot migrates, its
// source creates no key.
func (c *Cluster) moveSlot(from, to *Server, slot int) {
	c.t.Helper()
	const batch = "100" // keys; a MIGRATE blocks both nodes
	for {
		v := from.MustDo("CLUSTER", "GETKEYSINSLOT", strconv.Itoa(slot), batch)
		items, _ := v.([]any)
		if len(items) == 0 {
			return
		}
		var keys []string
		for _, item := range items {
			key, ok := item.(string)
			if !ok {
				c.t.Fatalf("redistest: move slot %d: key %v", slot, item)
			}
			keys = append(keys, key)
		}
		c.MoveKeys(from, to, keys...)
	}
}
