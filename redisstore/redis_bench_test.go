package redisstore

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// BenchmarkRedis measures Redis alone: flights are made before, as a server under
// load makes them, and sent one after the other. It counts Redis's own processor
// time a charge.
func BenchmarkRedis(b *testing.B) {
	for _, w := range []struct {
		name                    string
		keys, requests, charges int
		limit                   string
	}{
		{"three", 10_000, 23, 3, "10000000/h"},
		{"three-gcra", 10_000, 23, 3, "10000000/h burst 10000000"},
		{"three-fixed", 10_000, 23, 3, "10000000/h fixed_window"},
		{"one", 10_000, 32, 1, "10000000/h"},
		{"one-gcra", 10_000, 32, 1, "10000000/h burst 10000000"},
		{"hot", 1, 60, 1, "10000000/h"},
		{"lone", 10_000, 1, 1, "10000000/h"},
	} {
		b.Run(w.name, func(b *testing.B) {
			l, err := weir.ParseLimit(w.limit)
			if err != nil {
				b.Fatal(err)
			}
			benchmarkRedis(b, w.keys, w.requests, w.charges, weir.MustMeter(l))
		})
	}
}

func benchmarkRedis(b *testing.B, keys, requests, charges int, m *weir.Meter) {
	const flights = 1000
	s, sh := grounded(b)
	srv := redistest.Start(b)
	srv.MustDo("SCRIPT", "LOAD", s.scripts.declared.source)
	rnd := rand.New(rand.NewPCG(1, 2))
	batches := make([]weir.Batch, requests)
	f, commands := sh.flights[0], make([][]byte, flights)
	for n := range commands {
		for i := range batches {
			at := rnd.IntN(keys)
			e := weir.Entry{Charges: make([]weir.Charge, charges)}
			for j := range e.Charges {
				e.Charges[j] = weir.Charge{Key: fmt.Sprintf("{t%09d}5:bench6:tenant%dwh", at, j), Meter: m, Cost: 1}
			}
			batches[i] = weir.Batch{Entries: []weir.Entry{e}, Deadline: time.Now().Add(time.Hour)}
			s.Submit(&batches[i], func(*weir.Batch) {})
		}
		sh.take(f)
		f.build(f.items, maxKeysHard)
		f.encode()
		commands[n] = append([]byte(nil), f.command(&s.scripts.declared, false)...)
		sh.detach(f)
		sh.mu.aloft--
	}
	conn, err := net.Dial("tcp", srv.Addr())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	turn := func(command []byte) {
		if _, err := conn.Write(command); err != nil {
			b.Fatal(err)
		}
		if err := f.found.readFrom(conn); err != nil {
			b.Fatal(err)
		}
	}
	for _, command := range commands {
		turn(command)
	}
	srv.MustDo("CONFIG", "RESETSTAT")
	redis := srv.CPU()
	for i := range b.N {
		turn(commands[i%flights])
	}
	n := float64(b.N * requests * charges)
	b.ReportMetric(float64(srv.CPU()-redis)/n, "redis-ns/charge")
	b.ReportMetric(1000*evalMicros(b, srv)/n, "eval-ns/charge")
	b.ReportMetric(0, "ns/op")
}

// evalMicros is how long the server says that scripts took it.
func evalMicros(b *testing.B, srv *redistest.Server) float64 {
	text, _ := srv.MustDo("INFO", "commandstats").(string)
	_, rest, _ := strings.Cut(text, "cmdstat_evalsha:")
	_, rest, _ = strings.Cut(rest, "usec=")
	digits, _, _ := strings.Cut(rest, ",")
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		b.Fatal(err)
	}
	return n
}
