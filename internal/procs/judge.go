package procs

import "time"

// What the judge goes by.
const (
	// nearlyAll is how much of its processors a program may use, of 1, before it
	// gets more.
	nearlyAll = 0.9
	// fewEnough is how much of half of its processors a program may use for the
	// other half to be taken away: so little that it is not soon given back.
	fewEnough = 0.75
	// tooLate is how long somebody who is ready may wait for a processor, on
	// average. It is what is seen when others take the processors, so that no use
	// shows how much is wanted.
	tooLate = 3 * time.Millisecond
	inTime  = tooLate / 2

	shortTerm = 60 * time.Millisecond  // of use, to grow by
	mediumly  = 200 * time.Millisecond // of lateness
	longTerm  = time.Second            // of use, to shrink by

	// patience is how long processors stay once they were given. It doubles, up
	// to mostPatience, when what was taken away is wanted again within regret.
	patience     = time.Second
	mostPatience = time.Minute
	regret       = 10 * time.Second

	// trial is how long it takes to see whether more processors help: whether half of
	// them was in use for an instant, besides those that there were before, or a tenth
	// all the time. If not, there is no need of them, or others have them. They are given
	// back, and not asked for again because of use for a second, then two, and so on up to
	// mostPatience.
	trial     = time.Second
	helped    = 0.1
	helpsOnce = 0.5
)

// judge says how many processors a program should have, by how it did with those
// it had. It knows no clock: it is told how much time passed.
type judge struct {
	least, most int

	now         int     // how many it has
	short, long average // of processors in use
	late        average // nanoseconds

	since    time.Duration // the last change
	patience time.Duration
	shrank   bool // by the last change

	before int           // how many there were, during a trial; 0 for none
	work   float64       // processor time in the trial, nanoseconds
	barred time.Duration // how long it must not grow by use
	bar    time.Duration // for how long it is barred the next time
}

func newJudge(least, most int) judge {
	return judge{least: least, most: most, now: least, patience: patience, bar: trial}
}

// beat judges anew, after elapsed in which used processors were busy on average,
// and late was how long a processor had to be waited for at the end of it.
func (j *judge) beat(elapsed time.Duration, used float64, late time.Duration) int {
	j.since += elapsed
	j.barred -= min(elapsed, j.barred)
	j.short.add(used, elapsed, shortTerm)
	j.long.add(used, elapsed, longTerm)
	j.late.add(float64(late), elapsed, mediumly)
	j.work += used * float64(elapsed)
	waited := j.late.value > float64(tooLate)
	half := max(j.least, j.now/2)
	switch {
	case j.before > 0 && !j.isWorthIt():
		j.change(j.before, false)
	case j.now < j.most && (waited || j.barred == 0 && j.short.value > nearlyAll*float64(j.now)):
		j.grow(waited)
	case half < j.now && j.since >= j.patience && j.late.value < float64(inTime) &&
		max(j.short.value, j.long.value) < fewEnough*float64(half):
		j.change(half, true)
	}
	return j.now
}

func (j *judge) grow(waited bool) {
	if j.shrank && j.since < regret {
		j.patience = min(2*j.patience, mostPatience)
	} else if j.since > mostPatience {
		j.patience, j.bar = patience, trial
	}
	before := j.now
	j.change(min(2*j.now, j.most), false)
	if !waited {
		j.before, j.work = before, 0
	}
}

// isWorthIt tells whether what was given on trial is to be kept, or may yet prove its
// worth.
func (j *judge) isWorthIt() bool {
	before, more := float64(j.before), float64(j.now-j.before)
	switch over := j.since >= trial; {
	case j.short.value >= before+helpsOnce*more, over && j.work >= (before+helped*more)*float64(j.since):
		j.before, j.bar = 0, trial
	case j.late.value > float64(inTime):
		j.before = 0
	case over:
		j.barred, j.bar = j.bar, min(2*j.bar, mostPatience)
		return false
	}
	return true
}

func (j *judge) change(to int, shrank bool) {
	j.now, j.shrank, j.since, j.before = to, shrank, 0, 0
	j.late = average{} // what was waited for with other processors says nothing of these
}

// average is one that forgets: of about the last term.
type average struct{ value float64 }

func (a *average) add(v float64, elapsed, term time.Duration) {
	a.value += (v - a.value) * float64(elapsed) / float64(elapsed+term)
}
