package redisstore

import "time"

// pace says how many entries must wait for a second flight to be worth its call.
// One that is on a network for most of its time should not be waited for: a few
// will do. A server nearby is back before many have come, and to ask it half as
// often saves a tenth of what both sides spend on a decision.
type pace struct {
	away time.Duration // what flights take besides their script, on average
}

const (
	pipelineAt   = 32
	pipelineNear = 256
	near         = 500 * time.Microsecond
	paceWeight   = 8 // the newest flight's part in the average
)

// observe takes in a flight. Those that were not told the script's time say
// nothing: it may be all of it, and a second flight would wait for the same.
func (p *pace) observe(took, script time.Duration) {
	if script > 0 {
		p.away += (max(took-script, 0) - p.away) / paceWeight
	}
}

// at is how many.
func (p *pace) at() int {
	if p.away > near {
		return pipelineAt
	}
	return pipelineNear
}
