package procs

import (
	"runtime"
	"testing"
	"time"
)

func TestParseRest(t *testing.T) {
	for text, want := range map[string]int64{
		"cpu  1 2 3 400 50 6 7 8 0 0\ncpu0 1": 450,
		"cpu  1 2 3 400 50 6":                 450,
		"":                                    -1,
		"cpu  1 2 3 400":                      -1,
		"cpu  1 2 3 x 50 6":                   -1,
		"cpu  1 2 3 -4 50 6":                  -1,
		"cpu  1 2 3 99999999999999999999 0 6": -1,
		"intr 1 2 3 400 50 6":                 -1,
	} {
		got, ok := parseRest([]byte(text))
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func FuzzParseRest(f *testing.F) {
	f.Add([]byte("cpu  1 2 3 400 50 6 7 8 0 0\ncpu0 1"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if d, ok := parseRest(b); ok && d < 0 {
			t.Errorf("%q: %v", b, d)
		}
	})
}

// The system itself says so, and it is no more than there is.
func TestRealRest(t *testing.T) {
	before, ok := rest()
	began := time.Now()
	time.Sleep(200 * time.Millisecond)
	after, also := rest()
	most := int64(runtime.NumCPU()) * int64(time.Since(began)/tick+10)
	if !ok || !also || before <= 0 || after < before || after-before > most {
		t.Errorf("%v, then %v; want up to %v ticks more", before, after, most)
	}
}
