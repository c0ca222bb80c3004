package report

import "testing"

func TestFigure(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{
		{0, "0.00"},
		{0.256, "0.26"},
		{9.994, "9.99"},
		{9.996, "10.0"},
		{99.94, "99.9"},
		{99.96, "100"},
		{999.6, "1000"},
		{9999, "9999"},
		{9999.9, "10.0k"},
		{45_678, "45.7k"},
		{458_000, "458k"},
		{999_600, "1.00M"},
		{1_500_000, "1.50M"},
		{-1.5, "-1.50"},
	} {
		if got := figure(c.v); got != c.want {
			t.Errorf("figure(%v) = %q, want %q", c.v, got, c.want)
		}
	}
}

func TestSpread(t *testing.T) {
	if got, want := spread([]float64{200, 100, 150}), "150 (100-200)"; got != want {
		t.Errorf("spread = %q, want %q", got, want)
	}
}

func TestTimes(t *testing.T) {
	if got, want := times([]float64{300}, 100), "3.00x"; got != want {
		t.Errorf("times = %q, want %q", got, want)
	}
	if got, want := times([]float64{300}, 0), "-"; got != want {
		t.Errorf("times of nothing = %q, want %q", got, want)
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{
		1: "1", 999: "999", 1000: "1k", 1500: "1500", 10_000: "10k", 1_000_000: "1M", 1_500_000: "1500k",
	} {
		if got := count(n); got != want {
			t.Errorf("count(%d) = %q, want %q", n, got, want)
		}
	}
}
