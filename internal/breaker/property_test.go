package breaker

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/weirlimit/weir"
)

// TestProperties: whatever happens in whatever order, at most one probe is away,
// it closes by a successful probe only, and a cooldown is within its bounds.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var now weir.Micros
		conf := Config{
			Consecutive: rapid.IntRange(1, 5).Draw(t, "consecutive"),
			MinCalls:    rapid.IntRange(1, 20).Draw(t, "min calls"),
			MinFailures: rapid.IntRange(1, 20).Draw(t, "min failures"),
			Jitter:      func() float64 { return rapid.Float64Range(0, 0.999999).Draw(t, "jitter") },
		}
		b := New(conf)
		full := conf.withDefaults()
		var (
			probe    Ticket      // the one that may still speak
			sentAt   weir.Micros // when it was given out
			given    []Ticket    // all, also those that may not
			openedAt = weir.Micros(-1)
		)
		for range rapid.IntRange(1, 200).Draw(t, "events") {
			now += weir.Micros(rapid.SampledFrom([]int64{0, 1, 999, 40_000, 250_000, 1_000_000, 6_000_000}).Draw(t, "pass"))
			before, hold, succeeded, moved := b.State(), b.until, false, false
			switch rapid.IntRange(0, 6).Draw(t, "event") {
			case 0, 1:
				due := b.Due(now)
				tk, ok := b.Allow(now)
				if due != tk.Probe() {
					t.Fatalf("a probe is due: %v; one was let through: %v", due, tk.Probe())
				}
				if tk.Probe() && !ok {
					t.Fatal("a probe that is not allowed")
				}
				if ok && !tk.Probe() && before != closed {
					t.Fatalf("an ordinary call passes while %s", before)
				}
				if tk.Probe() {
					if probe.Probe() && now < sentAt+full.ProbeFor {
						t.Fatalf("probe %d while %d is away", tk, probe)
					}
					if before == open && now < hold {
						t.Fatalf("a probe at %d, before the cooldown is over at %d", now, hold)
					}
					probe, sentAt, given = tk, now, append(given, tk)
				}
			case 2:
				failed := rapid.IntRange(0, 6).Draw(t, "failed")
				weight := min(failed, rapid.IntRange(1, 6).Draw(t, "weight"))
				b.Count(now, rapid.IntRange(0, 3).Draw(t, "ok"), failed, weight)
			case 3, 4:
				if len(given) == 0 {
					continue
				}
				tk := rapid.SampledFrom(given).Draw(t, "of probe")
				failed := rapid.Bool().Draw(t, "fails")
				succeeded = !failed && tk == probe
				b.Done(now, tk, failed)
				if tk == probe {
					probe = 0
				}
			case 5:
				b.TopologyChanged(now)
				probe, moved = 0, true
			case 6:
				if probe.Probe() {
					b.Forget(now, probe)
					probe = 0
				}
			}
			if before != closed && b.State() == closed && !succeeded {
				t.Fatalf("closed from %s without a successful probe", before)
			}
			if b.State() == open && (before != open || openedAt < 0) && !moved {
				wait := b.until - now
				if wait < full.Cooldown || wait > full.MaxCooldown+full.MaxCooldown/5 {
					t.Fatalf("a cooldown of %d us, want 250 ms to 6 s", wait)
				}
				openedAt = now
				probe = 0
			}
		}
		// Nothing wedges it: after the longest cooldown and the longest probe, a
		// call is let through.
		now += full.MaxCooldown*6/5 + full.ProbeFor
		if _, ok := b.Allow(now); !ok {
			now += full.MaxCooldown * 6 / 5
			if _, ok := b.Allow(now); !ok {
				t.Fatalf("wedged in %s", b.State())
			}
		}
	})
}
