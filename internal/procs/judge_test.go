package procs

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// run has a program that wants so many processors judged for a while, on a machine
// that has them, and returns how often its processors changed.
func (j *judge) run(wants float64, late, span time.Duration) (changes int) {
	return j.runOn(8, wants, late, span)
}

func (j *judge) runOn(idle, wants float64, late, span time.Duration) (changes int) {
	for ; span > 0; span -= busyBeat {
		before := j.now
		if j.beat(busyBeat, min(wants, float64(j.now)), late, idle) != before {
			changes++
		}
	}
	return changes
}

func TestJudgeGrowsSoon(t *testing.T) {
	j := newJudge(1, 8)
	for _, want := range []int{2, 4, 8} {
		if j.run(8, 0, 200*time.Millisecond) == 0 || j.now < want {
			t.Fatalf("%d processors of a program that could use 8, for 200 ms; want %d at least", j.now, want)
		}
	}
	if j.run(8, 0, time.Minute) != 0 || j.now != 8 {
		t.Errorf("%d processors of a program that uses 8", j.now)
	}
}

func TestJudgeKeepsToWhatIsUsed(t *testing.T) {
	j := newJudge(1, 8)
	if n := j.run(0.8, 0, time.Minute); n != 0 || j.now != 1 {
		t.Errorf("%d processors, after %d changes, of a program that uses 0.8 of one", j.now, n)
	}
	j.run(8, 0, time.Second)
	j.run(0.5, 0, 1500*time.Millisecond)
	if j.now == 1 {
		t.Error("back at one processor at once")
	}
	j.run(0.5, 0, 10*time.Second)
	if j.now != 1 {
		t.Errorf("%d processors of a program that uses half of one", j.now)
	}
}

// Where others take the processors it is not use that shows what is wanted.
func TestJudgeGrowsWhenWaitedFor(t *testing.T) {
	j := newJudge(1, 4)
	j.run(0.3, 2*tooLate, time.Second)
	if j.now != 4 {
		t.Errorf("%d processors of 4, though they are waited for", j.now)
	}
	if n := j.run(0.3, inTime+time.Millisecond, time.Minute); n != 0 {
		t.Errorf("%d changes while they are waited for a little", n)
	}
	j.run(0.3, 0, 10*time.Second)
	if j.now != 1 {
		t.Errorf("%d processors that nobody waits for", j.now)
	}
}

// Work that comes and goes has its processors taken away less and less often.
func TestJudgeLearnsPatience(t *testing.T) {
	j := newJudge(1, 2)
	var changes []int
	for range 6 {
		n := 0
		for range 15 { // 30 s
			n += j.run(2, 0, 500*time.Millisecond) + j.run(0, 0, 1500*time.Millisecond)
		}
		changes = append(changes, n)
	}
	if first, last := changes[0], changes[5]; first < 6 || last > 2 {
		t.Errorf("changes in each half minute: %v; want some, then hardly any", changes)
	}
	j.run(0, 0, 2*time.Minute)
	if j.now != 1 {
		t.Errorf("%d processors after two minutes without work", j.now)
	}
	j.run(2, 0, time.Second)
	if j.patience != patience {
		t.Errorf("patience %v after minutes of calm, want %v", j.patience, patience)
	}
}

// What is there and not to be had, since others have it, is asked for ever less
// often.
func TestJudgeGivesBackWhatDoesNotHelp(t *testing.T) {
	j := newJudge(1, 2)
	var spans []time.Duration // with two, each half minute
	for range 4 {
		var two time.Duration
		for span := 30 * time.Second; span > 0; span -= busyBeat {
			if j.beat(busyBeat, 1, 0, 0) == 2 {
				two += busyBeat
			}
		}
		spans = append(spans, two)
	}
	if spans[0] < 3*time.Second || spans[0] > 6*time.Second || spans[3] > 4*time.Second {
		t.Errorf("with two processors in each half minute, of which one could be used: %v", spans)
	}
	j.runOn(0, 2, 0, mostBar+time.Second) // now both can be
	if n := j.runOn(0, 2, 0, time.Minute); n != 0 || j.now != 2 || j.bar != window {
		t.Errorf("%d processors of 2 in use, after %d changes; barred for %v the next time", j.now, n, j.bar)
	}
	j = newJudge(1, 2)
	j.run(1, 0, time.Second)
	if n := j.run(1, 0, time.Minute); n != 0 || j.now != 2 {
		t.Errorf("%d processors, after %d changes, on a machine that has them", j.now, n)
	}
}

// What processors are good for goes by the instant in which most was used: short
// bursts have theirs each time.
func TestJudgeServesBursts(t *testing.T) {
	j := newJudge(1, 4)
	for i := range 100 {
		j.runOn(0, 4, 0, 300*time.Millisecond)
		if j.now != 4 {
			t.Fatalf("burst %d has %d processors of 4 in the end", i, j.now)
		}
		j.runOn(0, 0, 0, 5*time.Second)
	}
}

// Who had to wait keeps what it got, used or not.
func TestJudgeKeepsWhatIsWaitedFor(t *testing.T) {
	j := newJudge(1, 2)
	j.runOn(0, 0.8, 2*tooLate, time.Second)
	if n := j.runOn(0, 0.8, 0, time.Minute); n != 0 || j.now != 2 {
		t.Errorf("%d processors after %d changes", j.now, n)
	}
	j = newJudge(1, 2) // and who got it for another reason gets it back
	j.runOn(0, 1, 0, 200*time.Millisecond)
	if n := j.runOn(0, 1, 2*tooLate, time.Minute); n > 2 || j.now != 2 {
		t.Errorf("%d processors after %d changes", j.now, n)
	}
}

// A program that wants the same all the time gets what it needs, and is left alone
// then. On a machine that is full, what may help a little is tried now and then.
func TestJudgeIsSteady(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 64).Draw(t, "most")
		idle := rapid.SampledFrom([]float64{0, 8}).Draw(t, "idle")
		j := newJudge(least(most), most)
		j.run(float64(most), 0, time.Duration(rapid.IntRange(0, 1000).Draw(t, "before"))*time.Millisecond)
		wants := rapid.Float64Range(0, 1.2*float64(most)).Draw(t, "wants")
		j.runOn(idle, wants, 0, time.Minute)
		n := j.runOn(idle, wants, 0, 9*time.Minute)
		if idle > 0 && n > 0 || n > 2*60 {
			t.Fatalf("%d changes in nine minutes of the same, with %d processors", n, j.now)
		}
		more := min(2*j.now, most) - j.now
		if idle > 0 && more > 0 && wants > nearlyAll*float64(j.now) || wants > float64(j.now)+helps*float64(more) && more > 0 {
			t.Fatalf("%d processors of %d for one that wants %.2f", j.now, most, wants)
		}
		if j.now < least(most) || j.now > most {
			t.Fatalf("%d processors, of %d to %d", j.now, least(most), most)
		}
	})
}
