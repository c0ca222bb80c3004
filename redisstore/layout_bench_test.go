package redisstore

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/weirlimit/weir/internal/redistest"
)

// layout is a way to keep counters in Redis. Its scripts do nothing but reach
// them: what is decided is the same in all.
type layout struct {
	name  string
	fill  string // makes the counters ARGV[1] to ARGV[2]
	reach string // reads and writes those that args names
	args  func(counter int) []string
}

const (
	layoutSlots = 4 // of a bucket of a page: a counter is in one of them
	layoutSlot  = 20
	layoutPage  = 1 << 12 // slots of a page
)

// layouts are a key for each counter, which is what Weir has; one hash for all,
// whose fields Redis lets expire by no clock; and strings of many slots, in which a
// counter's place is told by its hash.
var layouts = []layout{
	{
		name: "key",
		fill: `for i = ARGV[1], ARGV[2] do
  redis.call('SET', string.format('{tenant-%08d}3:api', i), '123456789012', 'PX', 3600000 + i % 100000)
end`,
		reach: `local V = redis.call('MGET', unpack(ARGV))
for i = 1, #ARGV do redis.call('SETRANGE', ARGV[i], '2', '345') end
return table.concat(V)`,
		args: func(i int) []string { return []string{fmt.Sprintf("{tenant-%08d}3:api", i)} },
	},
	{
		name: "hash",
		fill: `for i = ARGV[1], ARGV[2] do redis.call('HSET', 'h', string.format('{tenant-%08d}3:api', i), '123456789012') end`,
		reach: `local V, W, sub = redis.call('HMGET', 'h', unpack(ARGV)), {}, string.sub
for i = 1, #ARGV do
  local v = V[i]
  W[2 * i - 1], W[2 * i] = ARGV[i], sub(v, 1, 2) .. '345' .. sub(v, 6)
end
redis.call('HSET', 'h', unpack(W))
return table.concat(V)`,
		args: func(i int) []string { return []string{fmt.Sprintf("{tenant-%08d}3:api", i)} },
	},
	{
		name: "page",
		fill: fmt.Sprintf(`for i = ARGV[1], ARGV[2] do
  if i %% %d == 0 then redis.call('SETRANGE', 'p' .. i / %d, %d, '1') end
end`, layoutPage/2, layoutPage/2, layoutPage*layoutSlot-1), // half of the slots are taken
		reach: `local V, n, A = {}, 0, ARGV
for i = 1, #A, 4 do
  n = n + 1
  V[n] = redis.call('GETRANGE', A[i], A[i + 1], A[i + 2])
  redis.call('SETRANGE', A[i], A[i + 3], '345')
end
return table.concat(V)`,
		args: func(i int) []string {
			page, bucket := 2*i/layoutPage, 2*i%layoutPage/layoutSlots*layoutSlots*layoutSlot
			return []string{"p" + strconv.Itoa(page), strconv.Itoa(bucket), strconv.Itoa(bucket + layoutSlots*layoutSlot - 1), strconv.Itoa(bucket + 2)}
		},
	},
}

// BenchmarkLayout measures what Redis takes to reach one of many counters, drawn at
// random, in batches of 32, by how they are kept: why a counter is a key.
func BenchmarkLayout(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		for _, l := range layouts {
			b.Run(fmt.Sprintf("%s/counters=%d", l.name, n), func(b *testing.B) { benchmarkLayout(b, l, n) })
		}
	}
}

func benchmarkLayout(b *testing.B, l layout, counters int) {
	const calls, batch, chunk = 8, 32, 10_000
	srv := redistest.Start(b)
	empty := layoutMemory(b, srv)
	for from := 0; from < counters; from += chunk {
		srv.MustDo("EVAL", l.fill, "0", strconv.Itoa(from), strconv.Itoa(min(from+chunk, counters)-1))
	}
	memory := layoutMemory(b, srv) - empty
	sha, ok := srv.MustDo("SCRIPT", "LOAD", l.reach).(string)
	if !ok {
		b.Fatal("no script")
	}
	nc, err := net.Dial("tcp", srv.Addr())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = nc.Close() }()
	answers := bufio.NewReader(nc)
	rnd := rand.New(rand.NewPCG(1, 1)) // which counters: the same of each layout
	redis, reached := srv.CPU(), 0
	for b.Loop() {
		var wire []byte
		for range calls {
			var args []string
			for range batch {
				args = append(args, l.args(rnd.IntN(counters))...)
			}
			wire = appendHead(wire, '*', 3+len(args))
			for _, arg := range append([]string{"EVALSHA", sha, "0"}, args...) {
				wire = appendBulk(wire, arg)
			}
		}
		if _, err := nc.Write(wire); err != nil {
			b.Fatal(err)
		}
		for range calls {
			if err := layoutAnswer(answers, 12*batch); err != nil {
				b.Fatal(err)
			}
		}
		reached += calls * batch
	}
	b.ReportMetric(float64(srv.CPU()-redis)/float64(reached), "redis-ns/counter")
	b.ReportMetric(float64(memory)/float64(counters), "redis-B/counter")
	b.ReportMetric(0, "ns/op")
}

// layoutMemory is what Redis has taken of memory.
func layoutMemory(b *testing.B, srv *redistest.Server) int {
	info, _ := srv.MustDo("INFO", "memory").(string)
	_, text, _ := strings.Cut(info, "used_memory:")
	text, _, _ = strings.Cut(text, "\r\n")
	n, err := strconv.Atoi(text)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// layoutAnswer reads a text of at least so many bytes.
func layoutAnswer(r *bufio.Reader, least int) error {
	head, err := r.ReadString('\n')
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(head, "$"), "\r\n"))
	if err != nil || n < least {
		return fmt.Errorf("%q is not a text of %d bytes", head, least)
	}
	_, err = r.Discard(n + 2)
	return err
}
