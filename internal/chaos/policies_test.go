package chaos

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/weirlimit/weir"
)

// The limits of the load. Even keys are those of few tenants, who ask for many
// times what they may have, so that every admission too many shows; odd ones
// have a limit that nobody reaches, so that every check needs the store.
const (
	tightRate    = 5 // a second
	tightBurst   = 10
	tightTenants = 8
)

var policies = fmt.Sprintf(`
policies:
  - {id: tight, match: {kind: tight}, by: tenant, limits: %d/s burst %d, on_failure: open}
  - {id: wide, match: {kind: wide}, by: tenant, limits: 1000000/s burst 1000000, on_failure: open}
  - {id: closed, match: {kind: closed}, by: tenant, limits: 1000000/s burst 1000000, on_failure: closed}
  - {id: local, match: {kind: local}, by: tenant, limits: %d/s burst %d, on_failure: local}
`, tightRate, tightBurst, tightRate, tightBurst)

// fill writes the request of a key.
func fill(key uint64, r *weir.Request) {
	if key%2 == 1 {
		fillKind("wide", key, r)
		return
	}
	fillKind("tight", tightTenant(key), r)
}

// tightTenant is whose request an even key is.
func tightTenant(key uint64) uint64 { return key / 2 % tightTenants }

func fillKind(kind string, key uint64, r *weir.Request) {
	r.Domain = "default"
	if len(r.Descriptors) == 0 {
		r.Descriptors = []weir.Descriptor{{Pairs: make([]weir.Pair, 2)}}
	}
	r.Descriptors[0].Pairs[0] = weir.Pair{Name: "kind", Value: kind}
	r.Descriptors[0].Pairs[1] = weir.Pair{Name: "tenant", Value: "t" + strconv.FormatUint(key, 10)}
}

// extra is how many units more than burst + rate x T the worst of the tight
// tenants was given, in bursts; below 0 it was given less.
func extra(admitted map[uint64]int, t time.Duration) float64 {
	var given [tightTenants]float64
	for key, n := range admitted {
		if key%2 == 0 {
			given[tightTenant(key)] += float64(n)
		}
	}
	return (slices.Max(given[:]) - tightBurst - tightRate*t.Seconds()) / tightBurst
}
