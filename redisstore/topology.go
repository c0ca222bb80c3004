package redisstore

import (
	"github.com/weirlimit/weir/internal/key"
)

// topology is which shard serves which slot. It is immutable; a new one
// replaces it whole.
type topology struct {
	slots  *[key.Slots]*shard // nil when there is one shard for everything
	shards []*shard
}

// shardOf returns the shard of an item that is in state queued and in no
// queue, and whether all its keys live there.
func (s *Store) shardOf(t *topology, it *item) (_ *shard, one bool) {
	charges := it.entry.Charges
	it.slot = s.slotOf(charges[0].Key)
	sh := t.slots[it.slot]
	for i := 1; i < len(charges); i++ {
		if t.slots[s.slotOf(charges[i].Key)] != sh {
			return nil, false
		}
	}
	return sh, true
}

// slotOf is the slot of a key as it is stored. A prefix moves keys that have no
// hash tag.
func (s *Store) slotOf(k string) uint16 {
	if s.opts.Prefix == "" || len(key.Tag(k)) < len(k) {
		return key.Slot(k)
	}
	return key.Slot(s.opts.Prefix + k)
}

// slotTags has, for every slot, a short hash tag that lies in it: a replay
// record must lie in the slot of its entry's keys, whatever those look like.
func slotTags() []string {
	tags := make([]string, key.Slots)
	found := 0
	var buf [8]byte
	for n := 0; found < key.Slots; n++ {
		tag := appendTag(buf[:0], n)
		if s := key.Slot(string(tag)); tags[s] == "" {
			tags[s] = string(tag)
			found++
		}
	}
	return tags
}

func appendTag(b []byte, n int) []byte {
	const letters = "0123456789abcdefghijklmnopqrstuvwxyz"
	for {
		b = append(b, letters[n%len(letters)])
		if n /= len(letters); n == 0 {
			return b
		}
	}
}
