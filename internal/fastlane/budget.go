package fastlane

import "time"

// budget bounds, by the second, what a peer may have us do for nothing. What is
// answered pays for some: a client that calls much also cancels and acknowledges
// much.
type budget struct {
	began    time.Time
	controls int
	resets   int
	most     int // controls, in this second, at the last look at the answers
}

// controlsPerAnswer is how many frames a call may bring along: its window
// updates, a PING, a SETTINGS.
const controlsPerAnswer = 8

// turn begins another second when it is time. It is called once per read.
func (b *budget) turn(cn *conn) {
	if cn.now.Sub(b.began) >= time.Second {
		b.began, b.controls, b.resets = cn.now, 0, 0
		cn.answers = 0
	}
	b.most = cn.server.o.MaxControl + controlsPerAnswer*cn.answers
}

func (b *budget) control(n int) error {
	if b.controls += n; b.controls > b.most {
		return &connError{code: codeCalm, why: FrameFlood, text: "too many frames that carry no request"}
	}
	return nil
}

func (b *budget) reset(cn *conn) error {
	if b.resets++; b.resets > cn.server.o.MaxResets+cn.answers {
		return &connError{code: codeCalm, why: ResetFlood, text: "too many streams that come to nothing"}
	}
	return nil
}
