package weir_test

import (
	"testing"

	"github.com/weirlimit/weir"
)

func TestParseLimit(t *testing.T) {
	for _, tt := range []struct {
		text, canonical string
		want            weir.Limit
	}{
		{"100/s burst 200", "", weir.Limit{Algorithm: weir.GCRA, Count: 100, Window: weir.Second, Burst: 200}},
		{"100/s gcra", "", weir.Limit{Algorithm: weir.GCRA, Count: 100, Window: weir.Second}},
		{"100/s gcra burst 200", "100/s burst 200", weir.Limit{Algorithm: weir.GCRA, Count: 100, Window: weir.Second, Burst: 200}},
		{"60/m burst 10 token_bucket", "", weir.Limit{Algorithm: weir.TokenBucket, Count: 60, Window: weir.Minute, Burst: 10}},
		{"60/m token_bucket burst 10", "60/m burst 10 token_bucket", weir.Limit{Algorithm: weir.TokenBucket, Count: 60, Window: weir.Minute, Burst: 10}},
		{"10/s leaky_bucket", "", weir.Limit{Algorithm: weir.LeakyBucket, Count: 10, Window: weir.Second}},
		{"3000/m", "", weir.Limit{Algorithm: weir.SlidingWindow, Count: 3000, Window: weir.Minute}},
		{"3000/m sliding_window", "3000/m", weir.Limit{Algorithm: weir.SlidingWindow, Count: 3000, Window: weir.Minute}},
		{"100/30s", "", weir.Limit{Algorithm: weir.SlidingWindow, Count: 100, Window: 30 * weir.Second}},
		{"100/60s", "100/m", weir.Limit{Algorithm: weir.SlidingWindow, Count: 100, Window: weir.Minute}},
		{"1/24h", "1/d", weir.Limit{Algorithm: weir.SlidingWindow, Count: 1, Window: weir.Day}},
		{"1/90m", "", weir.Limit{Algorithm: weir.SlidingWindow, Count: 1, Window: 90 * weir.Minute}},
		{"1/7day", "1/7d", weir.Limit{Algorithm: weir.SlidingWindow, Count: 1, Window: weir.Week}},
		{"1/second", "1/s", weir.Limit{Algorithm: weir.SlidingWindow, Count: 1, Window: weir.Second}},
		{"1/2minute", "1/2m", weir.Limit{Algorithm: weir.SlidingWindow, Count: 1, Window: 2 * weir.Minute}},
		{"1/hour", "1/h", weir.Limit{Algorithm: weir.SlidingWindow, Count: 1, Window: weir.Hour}},
		{"1/365d", "", weir.Limit{Algorithm: weir.SlidingWindow, Count: 1, Window: weir.Year}},
		{"5/m fixed_window", "", weir.Limit{Algorithm: weir.FixedWindow, Count: 5, Window: weir.Minute}},
		{"1000/d sliding_log", "", weir.Limit{Algorithm: weir.SlidingLog, Count: 1000, Window: weir.Day}},
		{"20 concurrency 30s", "", weir.Limit{Algorithm: weir.Concurrency, Count: 20, Window: 30 * weir.Second}},
		{" \t100/s   burst\n200 ", "100/s burst 200", weir.Limit{Algorithm: weir.GCRA, Count: 100, Window: weir.Second, Burst: 200}},
	} {
		got, err := weir.ParseLimit(tt.text)
		if err != nil || got != tt.want {
			t.Errorf("%q: %+v, %v; want %+v", tt.text, got, err, tt.want)
			continue
		}
		want := tt.canonical
		if want == "" {
			want = tt.text
		}
		if got.String() != want {
			t.Errorf("%q is written %q, want %q", tt.text, got, want)
		}
	}
}

func TestParseLimitNamesTheField(t *testing.T) {
	for _, tt := range []struct{ text, field string }{
		{"", "limit"},
		{" \t ", "limit"},
		{"100", "limit"},
		{"100 s", "limit"},
		{"100/", "window"},
		{"/s", "count"},
		{"/", "count"},
		{"0/s", "count"},
		{"-1/s", "count"},
		{"1.5/s", "count"},
		{"1e3/s", "count"},
		{"ten/s", "count"},
		{"10000001/s", "count"},
		{"9223372036854775808/s", "count"},
		{"1001/s sliding_log", "count"},
		{"1001 concurrency 1s", "count"},
		{"x concurrency 1s", "count"},
		{"100/0s", "window"},
		{"100/-5s", "window"},
		{"100/5", "window"},
		{"100/5w", "window"},
		{"100/1.5h", "window"},
		{"100/ms", "window"},
		{"100/S", "window"},
		{"100/366d", "window"},
		{"100/9223372036854775807d", "window"},
		{"100/99999999999999999999d", "window"},
		{"5 concurrency 400d", "window"},
		{"5 concurrency never", "window"},
		{"100/s burst", "burst"},
		{"100/s burst x", "burst"},
		{"100/s burst 0", "burst"},
		{"100/s burst -1", "burst"},
		{"100/s burst 10000001", "burst"},
		{"100/s burst 1 burst 2", "burst"},
		{"100/s burst 200 fixed_window", "burst"},
		{"1/365d burst 3", "burst"},
		{"100/s leaky", "algorithm"},
		{"100/s invalid", "algorithm"},
		{"100/s GCRA", "algorithm"},
		{"100/s gcra gcra", "limit"},
		{"100/s gcra sliding_log", "limit"},
		{"100/s sliding_log concurrency", "limit"},
		{"20 concurrency", "limit"},
		{"20 concurrency 30s burst 3", "limit"},
		{"100/s concurrency", "limit"},
	} {
		got, err := weir.ParseLimit(tt.text)
		wantInvalid(t, tt.text, err, tt.field)
		if got != (weir.Limit{}) {
			t.Errorf("%q: %+v beside an error", tt.text, got)
		}
	}
}

func TestParseWindowAndBack(t *testing.T) {
	for text, want := range map[string]weir.Micros{
		"s": weir.Second, "30s": 30 * weir.Second, "5m": 5 * weir.Minute, "hour": weir.Hour, "7day": weir.Week,
		"90s": 90 * weir.Second, "36h": 36 * weir.Hour, "365d": weir.Year, "31536000s": weir.Year,
	} {
		got, err := weir.ParseWindow(text)
		if err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
		if again, err := weir.ParseWindow(weir.WindowText(got)); err != nil || again != got {
			t.Errorf("%q is written %q and read %d, %v", text, weir.WindowText(got), again, err)
		}
	}
	for w, want := range map[weir.Micros]string{
		0: "0us", 1: "1us", weir.Second: "s", 60 * weir.Second: "m", 61 * weir.Second: "61s", 25 * weir.Hour: "25h", weir.Week: "7d",
	} {
		if got := weir.WindowText(w); got != want {
			t.Errorf("%d us is written %q, want %q", w, got, want)
		}
	}
}

// FuzzParseLimit: nothing panics, an error is typed, and what is read is valid
// and reads the same when written.
func FuzzParseLimit(f *testing.F) {
	for _, text := range []string{
		"100/s burst 200", "3000/m", "20 concurrency 30s", "5/m fixed_window", "60/m burst 10 token_bucket",
		"1/365d burst 2", "", "/", "1/", "100/s burst", "9223372036854775808/9223372036854775807d", "1/s concurrency",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := weir.ParseLimit(text)
		if err != nil {
			if weir.CodeOf(err) != weir.CodeInvalid || l != (weir.Limit{}) {
				t.Fatalf("%q: %+v, %v", text, l, err)
			}
			return
		}
		if err := l.Validate(); err != nil {
			t.Fatalf("%q is read as %+v: %v", text, l, err)
		}
		if again, err := weir.ParseLimit(l.String()); err != nil || again != l {
			t.Fatalf("%q is read as %+v, written as %q and read as %+v, %v", text, l, l, again, err)
		}
	})
}
