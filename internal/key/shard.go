package key

import "strings"

// MaxShard is the most sub-counters that a counter is split into.
const MaxShard = 64

const (
	shardMark   = '!'
	shardPrefix = "{%!"
	shardDigits = 2
)

// AppendShard appends the tag of a sub-counter: its number, from 1 to MaxShard,
// and then what AppendTag writes. Different numbers are different slots.
func AppendShard(dst []byte, shard uint8, partition string) []byte {
	return append(appendPartition(appendShardNumber(dst, shard), partition), '}')
}

func appendShardSlot(dst []byte, shard uint8, slot uint16) []byte {
	return append(appendSlotNumber(appendShardNumber(dst, shard), slot), '}')
}

func appendShardNumber(dst []byte, shard uint8) []byte {
	return append(dst, '{', escape, shardMark, hexDigits[shard>>4], hexDigits[shard&15])
}

// Sibling returns the key of another sub-counter of the counter that key is a
// part of. A key of a counter that is not split is its own sibling.
func Sibling(key string, shard uint8) string {
	from := len(shardPrefix)
	if !strings.HasPrefix(key, shardPrefix) || len(key) < from+shardDigits {
		return key
	}
	b := append(make([]byte, 0, len(key)), key...)
	b[from], b[from+1] = hexDigits[shard>>4], hexDigits[shard&15]
	return string(b)
}

// cutShard takes the number of a sub-counter from the inside of a tag. It is 0
// for a tag without one.
func cutShard(tag string) (shard uint8, rest string, ok bool) {
	rest, sharded := strings.CutPrefix(tag, shardPrefix[1:])
	if !sharded {
		return 0, tag, true
	}
	if len(rest) < shardDigits {
		return 0, "", false
	}
	high, low := strings.IndexByte(hexDigits, rest[0]), strings.IndexByte(hexDigits, rest[1])
	n := high<<4 | low
	if high < 0 || low < 0 || n < 1 || n > MaxShard {
		return 0, "", false
	}
	return uint8(n), rest[shardDigits:], true
}
