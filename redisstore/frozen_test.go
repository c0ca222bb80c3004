package redisstore

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// freeze has the server's time stand still in a script, as it does from Redis 7.2 on,
// and has the script find the clock that there is from 7.4 on.
func freeze(t *testing.T, s *Store, clock string) {
	t.Helper()
	for _, sc := range []*script{&s.scripts.declared, &s.scripts.anySlot} {
		source := sc.source
		for old, with := range map[string]string{"local t = call('TIME')": "local t = t", "rawget(_G, 'os')": clock} {
			if strings.Count(source, old) != 1 {
				t.Fatalf("%q is not in the script once", old)
			}
			source = strings.Replace(source, old, with, 1)
		}
		*sc = scriptOf(source)
	}
}

// TestFrozenTime: calls stay short also where a script cannot tell how long it takes.
func TestFrozenTime(t *testing.T) {
	const keys = 1024
	for _, c := range []struct {
		name, clock string
		told        bool
	}{
		{"another clock", "{ clock = function() local t = redis.call('TIME') return t[1] % 1000 + t[2] / 1000000 end }", true},
		{"no clock", "nil", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := redistest.Start(t)
			var told atomic.Int64
			s := open(t, Options{
				Addrs: []string{srv.Addr()}, MaxScript: 200 * time.Microsecond, MaxKeys: keys,
				Hooks: weir.Hooks{StoreCall: func(c weir.StoreCall) {
					if c.Script > 0 {
						told.Add(1)
					}
				}},
			})
			freeze(t, s, c.clock)
			m := still(1000)
			for range 40 {
				var b weir.Batch
				for i := range keys {
					b.Entries = append(b.Entries, one(fmt.Sprint("k", i), m))
				}
				together(t, s, srv, &b)
				for i := range b.Entries {
					if err := b.Entries[i].Err; err != nil {
						t.Fatal(err)
					}
				}
			}
			if got := s.topo.Load().shards[0].keyCap.get(); got > keys/2 {
				t.Errorf("a call may have %d keys", got)
			}
			if n := told.Load(); n > 0 != c.told {
				t.Errorf("%d calls told how long they took", n)
			}
		})
	}
}
