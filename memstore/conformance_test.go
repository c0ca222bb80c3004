package memstore_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/memstore"
	"github.com/weirlimit/weir/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(testing.TB) storetest.Harness {
		var set atomic.Int64 // 0 until the suite sets the clock
		start := time.Now()
		s := memstore.New(memstore.WithClock(func() weir.Micros {
			if now := set.Load(); now != 0 {
				return weir.Micros(now)
			}
			return weir.MicrosAt(start) + weir.MicrosOf(time.Since(start))
		}))
		return storetest.Harness{Store: s, SetClock: func(now weir.Micros) { set.Store(int64(now)) }}
	})
}
