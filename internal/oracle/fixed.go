package oracle

import "github.com/weirlimit/weir"

// fixed counts in windows of the clock: the units of a window are free when it
// is over.
type fixed struct {
	limit weir.Limit
	used  int64
	first weir.Micros // when the first of them was taken
	now   weir.Micros
}

// end looks for the window's end by counting windows from the epoch.
func (f *fixed) end() weir.Micros {
	number := f.first / f.limit.Window
	return (number + 1) * f.limit.Window
}

func (f *fixed) See(now weir.Micros) {
	f.now = now
	if now >= f.end() {
		f.used = 0
	}
}

func (f *fixed) SetLimit(l weir.Limit) { f.limit = l }

func (f *fixed) Clone() Counter {
	c := *f
	return &c
}

func (f *fixed) Used() int64 { return f.used }

func (f *fixed) Since() weir.Micros { return f.first }

func (f *fixed) Holds(string) bool { return false }

func (f *fixed) Take(n int64, _ string) int64 {
	n = min(n, maxUsed-f.used)
	if n <= 0 {
		return 0
	}
	if f.used == 0 {
		f.first = f.now
	}
	f.used += n
	return n
}

func (f *fixed) Give(n int64, _ string) int64 {
	n = min(n, f.used)
	f.used -= n
	return n
}

func (f *fixed) FreeAt(int64) weir.Micros { return f.end() }
