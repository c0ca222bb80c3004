package contest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/bench"
	"github.com/weirlimit/weir/internal/reqlist"
)

// recordLen is more requests than a server remembers of its past.
const recordLen = 100_000

// number is a value of a descriptor's entry.
func number(n uint64) string { return fmt.Sprintf("t%09d", n) }

// request is one of a unit, with a descriptor for each of the lists of pairs.
func request(domain string, cost int64, descriptors ...[]weir.Pair) weir.Request {
	r := weir.Request{Domain: domain, Cost: cost}
	for _, pairs := range descriptors {
		r.Descriptors = append(r.Descriptors, weir.Descriptor{Pairs: pairs})
	}
	return r
}

// uniform makes up requests with a descriptor for each key, each with one of so
// many values.
func uniform(values int, keys ...string) func(*rand.Rand, int) []weir.Request {
	return func(rng *rand.Rand, requests int) []weir.Request {
		out := make([]weir.Request, requests)
		for i := range out {
			descriptors := make([][]weir.Pair, len(keys))
			for j, k := range keys {
				descriptors[j] = []weir.Pair{{Name: k, Value: number(rng.Uint64N(uint64(values)))}}
			}
			out[i] = request(domain, 1, descriptors...)
		}
		return out
	}
}

// each asks for so many values of a key, once.
func each(values int, key string) []weir.Request {
	out := make([]weir.Request, values)
	for i := range out {
		out[i] = request(domain, 1, []weir.Pair{{Name: key, Value: number(uint64(i))}})
	}
	return out
}

// record writes what was made up to a file, and returns what that file says: as
// weir bench --from takes it.
func record(path string, requests []weir.Request) (_ *bench.Listed, err error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	w := reqlist.NewWriter(f)
	for i := range requests {
		if err = w.Write(&requests[i]); err != nil {
			break
		}
	}
	if err == nil {
		err = w.Flush()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	if f, err = os.Open(path); err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	return bench.ReadList(f)
}

// recording is record in the plan's directory.
func (p Plan) recording(name string, requests []weir.Request) (*bench.Listed, error) {
	return record(filepath.Join(p.Recordings, name+".txt"), requests)
}
