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
	midTerm   = 200 * time.Millisecond // of lateness
	longTerm  = time.Second            // of use, to shrink by

	// patience is how long processors stay once they were given. It doubles, up
	// to mostPatience, when what was taken away is wanted again within regret.
	patience     = time.Second
	mostPatience = time.Minute
	regret       = 10 * time.Second

	// window is how long is looked at what the upper half of the processors is good for:
	// whether half of it was in use for an instant, besides the lower half, or a tenth
	// all the time. If not, and the whole machine is busy, others have it, and are only
	// disturbed. It is given back, and not asked for again because of use for a second,
	// then two, four, eight: not longer, since what is wanted may change.
	window    = time.Second
	helps     = 0.1
	helpsOnce = 0.5
	mostBar   = 8 * time.Second
	allBusy   = 0.5 // idle processors of the machine, at most
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
	shrank   bool // because there was little to do, by the last change
	waited   bool // for processors, before it got those it has

	seen   time.Duration // of the window
	work   float64       // processor time in it, nanoseconds
	peak   float64       // of short, in it
	barred time.Duration // how long it must not grow by use
	bar    time.Duration // for how long it is barred the next time
	height int           // how many were of no use when it was barred
}

func newJudge(least, most int) judge {
	return judge{least: least, most: most, now: least, patience: patience, bar: window}
}

// beat judges anew, after elapsed in which used processors were busy on average,
// and late was how long a processor had to be waited for at the end of it. Of the
// machine so many were idle of late.
func (j *judge) beat(elapsed time.Duration, used float64, late time.Duration, idle float64) int {
	j.since += elapsed
	j.barred -= min(elapsed, j.barred)
	j.short.add(used, elapsed, shortTerm)
	j.long.add(used, elapsed, longTerm)
	j.late.add(float64(late), elapsed, midTerm)
	useless := j.look(elapsed, used)
	waited := j.late.value > float64(tooLate)
	half := j.half()
	switch {
	case j.now < j.most && (waited || j.barred == 0 && j.short.value > nearlyAll*float64(j.now)):
		j.grow(waited)
	case half == j.now:
	case j.since >= j.patience && j.late.value < float64(inTime) &&
		max(j.short.value, j.long.value) < fewEnough*float64(half):
		j.change(half)
		j.shrank = true
	case useless && !j.waited && idle < allBusy:
		j.height, j.barred, j.bar = j.now, j.bar, min(2*j.bar, mostBar)
		j.change(half)
	}
	return j.now
}

// half is how many processors there are when some are given back.
func (j *judge) half() int { return max(j.least, j.now/2) }

// look looks at what the upper half is good for, and tells at the end of a window
// whether it was good for nothing while the lower half was busy.
func (j *judge) look(elapsed time.Duration, used float64) (useless bool) {
	j.seen += elapsed
	j.work += used * float64(elapsed)
	j.peak = max(j.peak, j.short.value)
	if j.seen < window {
		return false
	}
	mean, half := j.work/float64(j.seen), float64(j.half())
	switch more := float64(j.now) - half; {
	case more == 0:
	case mean >= half+helps*more || j.peak >= half+helpsOnce*more:
		if j.now >= j.height {
			j.bar = window
		}
	default:
		useless = mean >= fewEnough*half
	}
	j.seen, j.work, j.peak = 0, 0, 0
	return useless
}

func (j *judge) grow(waited bool) {
	if j.shrank && j.since < regret {
		j.patience = min(2*j.patience, mostPatience)
	} else if j.since > mostPatience {
		j.patience = patience
	}
	j.change(min(2*j.now, j.most))
	j.waited = waited
}

// change forgets what was seen with other processors than these.
func (j *judge) change(to int) {
	j.now, j.since, j.shrank, j.waited = to, 0, false, false
	j.late, j.seen, j.work, j.peak = average{}, 0, 0, 0
}

// average is one that forgets: of about the last term.
type average struct{ value float64 }

func (a *average) add(v float64, elapsed, term time.Duration) {
	a.value += (v - a.value) * float64(elapsed) / float64(elapsed+term)
}
