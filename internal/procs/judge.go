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
}

func newJudge(least, most int) judge {
	return judge{least: least, most: most, now: least, patience: patience}
}

// beat judges anew, after elapsed in which used processors were busy on average,
// and late was how long a processor had to be waited for at the end of it.
func (j *judge) beat(elapsed time.Duration, used float64, late time.Duration) int {
	j.since += elapsed
	j.short.add(used, elapsed, shortTerm)
	j.long.add(used, elapsed, longTerm)
	j.late.add(float64(late), elapsed, mediumly)
	half := max(j.least, j.now/2)
	switch {
	case j.now < j.most && (j.short.value > nearlyAll*float64(j.now) || j.late.value > float64(tooLate)):
		if j.shrank && j.since < regret {
			j.patience = min(2*j.patience, mostPatience)
		} else if j.since > mostPatience {
			j.patience = patience
		}
		j.change(min(2*j.now, j.most), false)
	case half < j.now && j.since >= j.patience && j.late.value < float64(inTime) &&
		max(j.short.value, j.long.value) < fewEnough*float64(half):
		j.change(half, true)
	}
	return j.now
}

func (j *judge) change(to int, shrank bool) {
	j.now, j.shrank, j.since = to, shrank, 0
	j.late = average{} // what was waited for with other processors says nothing of these
}

// average is one that forgets: of about the last term.
type average struct{ value float64 }

func (a *average) add(v float64, elapsed, term time.Duration) {
	a.value += (v - a.value) * float64(elapsed) / float64(elapsed+term)
}
