package contest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/weirlimit/weir/internal/redistest"
)

// Millions of counters take minutes through a server. Those beyond what a server
// remembers by itself are copies of what it keeps for one key, under the names
// that it gives: station.sample refuses what finds other counters than these.
//
// Redis makes them, so that a copy is held as its original: a value that was
// written over in place is held otherwise than a new one, and the first to write
// over a copy that were new would pay for that.

// copied is a counter that a system keeps in Redis for a key, with the key's own
// text taken out of its name.
type copied struct{ before, key, after string }

func (c copied) name(key string) string { return c.before + key + c.after }

// keyText is a value as bench.Sweep and bench.Synthetic ask for it.
func keyText(n uint64) string { return fmt.Sprintf("key-%08d", n) }

// learn finds what there is of a key.
func learn(redis *redistest.Server, key string) ([]copied, error) {
	var out []copied
	for cursor := "0"; ; {
		v, err := redis.Do("SCAN", cursor, "COUNT", "10000", "MATCH", "*"+key+"*", "TYPE", "string")
		if err != nil {
			return nil, err
		}
		page, _ := v.([]any)
		if len(page) != 2 {
			return nil, fmt.Errorf("find a key: SCAN said %v", v)
		}
		names, _ := page[1].([]any)
		for _, n := range names {
			name, _ := n.(string)
			c, err := learnOne(redis, name, key)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		}
		if cursor, _ = page[0].(string); cursor == "0" || cursor == "" {
			break
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("find %s: there is nothing of it in Redis", key)
	}
	return out, nil
}

func learnOne(redis *redistest.Server, name, key string) (copied, error) {
	before, after, _ := strings.Cut(name, key)
	c := copied{before, key, after}
	left, err := redis.Do("PTTL", name)
	if err != nil {
		return c, err
	}
	if ms, _ := left.(int64); ms <= 0 {
		return c, fmt.Errorf("%s is no counter: it ends in %v ms", name, left)
	}
	return c, nil
}

// appendTo adds the command that makes the copy for another key.
func (c copied) appendTo(b []byte, key string) []byte {
	b = append(b, "*3\r\n$4\r\nCOPY\r\n"...)
	for _, name := range [...]string{c.name(c.key), c.name(key)} {
		b = strconv.AppendInt(append(b, '$'), int64(len(name)), 10)
		b = append(append(append(b, "\r\n"...), name...), "\r\n"...)
	}
	return b
}

// copyKeys gives the keys from one number to another what there is of key 0.
func copyKeys(ctx context.Context, redis *redistest.Server, from, to uint64) (err error) {
	of, err := learn(redis, keyText(0))
	if err != nil {
		return err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", redis.Addr())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		return err
	}
	answers := make(chan error, 1)
	go func() { answers <- expectCopied(conn, (to-from)*uint64(len(of))) }()
	w := bufio.NewWriterSize(conn, 1<<18)
	var b []byte
	for n := from; n < to && err == nil; n++ {
		b = b[:0]
		for _, c := range of {
			b = c.appendTo(b, keyText(n))
		}
		_, err = w.Write(b)
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return errors.Join(err, conn.SetDeadline(time.Now()), <-answers)
	}
	return <-answers
}

// expectCopied reads so many answers, all of which are to be that it was done.
func expectCopied(from io.Reader, n uint64) error {
	r := bufio.NewReaderSize(from, 1<<16)
	for range n {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return fmt.Errorf("copy keys: %w", err)
		}
		if string(line) != ":1\r\n" {
			return fmt.Errorf("copy keys: Redis said %q", line)
		}
	}
	return nil
}
