package fastlane

import "encoding/binary"

// frameLocked handles one frame.
func (cn *conn) frameLocked(f frame, p []byte) error {
	if cn.blockID != 0 && f.kind != frameContinuation {
		return broken(codeProtocol, "a header block that is interrupted")
	}
	if !cn.settled && f.kind != frameSettings {
		return broken(codeProtocol, "no SETTINGS at first")
	}
	switch f.kind {
	case frameData:
		return cn.dataLocked(f, p)
	case frameHeaders:
		return cn.headersLocked(f, p)
	case frameContinuation:
		return cn.continuationLocked(f, p)
	}
	if err := cn.budget.control(1); err != nil {
		return err
	}
	switch f.kind {
	case framePriority:
		return cn.priorityLocked(f, p)
	case frameReset:
		return cn.resetLocked(f, p)
	case frameSettings:
		return cn.settingsLocked(f, p)
	case framePush:
		return broken(codeProtocol, "PUSH_PROMISE from a client")
	case framePing:
		return cn.pingLocked(f, p)
	case frameGoAway:
		if f.id != 0 || len(p) < 8 {
			return broken(codeProtocol, "a bad GOAWAY")
		}
		return nil // it opens no more streams; the rest is answered
	case frameWindow:
		return cn.windowLocked(f, p)
	}
	return nil // unknown: RFC 9113, 4.1
}

// unpad takes the padding off a payload.
func unpad(f frame, p []byte) ([]byte, error) {
	if f.flags&flagPadded == 0 {
		return p, nil
	}
	if len(p) == 0 {
		return nil, broken(codeFrameSize, "no room for the length of padding")
	}
	n := int(p[0])
	if n >= len(p) {
		return nil, broken(codeProtocol, "padding longer than the frame")
	}
	return p[1 : len(p)-n], nil
}

func (cn *conn) priorityLocked(f frame, p []byte) error {
	switch {
	case f.id == 0:
		return broken(codeProtocol, "PRIORITY without a stream")
	case len(p) != 5:
		return cn.refuseLocked(f.id, codeFrameSize, Malformed)
	case binary.BigEndian.Uint32(p)&maxStreamID == f.id:
		return cn.refuseLocked(f.id, codeProtocol, Malformed)
	}
	return nil
}

func (cn *conn) resetLocked(f frame, p []byte) error {
	switch {
	case f.id == 0 || f.id > cn.lastID:
		return broken(codeProtocol, "RST_STREAM of a stream that never was")
	case len(p) != 4:
		return broken(codeFrameSize, "RST_STREAM of a bad size")
	}
	if c := cn.streams.get(f.id); c != nil {
		cn.abandonLocked(c, false)
		return cn.budget.reset(cn)
	}
	return nil
}

func (cn *conn) pingLocked(f frame, p []byte) error {
	switch {
	case f.id != 0:
		return broken(codeProtocol, "PING of a stream")
	case len(p) != 8:
		return broken(codeFrameSize, "PING of a bad size")
	case f.flags&flagAck != 0:
		cn.pongLocked(p)
		return nil
	}
	cn.out = append(appendFrame(cn.out, 8, framePing, flagAck, 0), p...)
	return nil
}

func (cn *conn) settingsLocked(f frame, p []byte) error {
	switch {
	case f.id != 0:
		return broken(codeProtocol, "SETTINGS of a stream")
	case len(p)%settingLen != 0 || f.flags&flagAck != 0 && len(p) != 0:
		return broken(codeFrameSize, "SETTINGS of a bad size")
	case f.flags&flagAck != 0:
		if !cn.settled {
			return broken(codeProtocol, "no SETTINGS at first")
		}
		return nil
	}
	if err := cn.budget.control(len(p) / settingLen); err != nil {
		return err
	}
	for ; len(p) > 0; p = p[settingLen:] {
		if err := cn.settingLocked(binary.BigEndian.Uint16(p), binary.BigEndian.Uint32(p[2:])); err != nil {
			return err
		}
	}
	cn.out = appendFrame(cn.out, 0, frameSettings, flagAck, 0)
	if !cn.settled {
		cn.settled = true
		return cn.unhurry()
	}
	cn.pumpLocked()
	return nil
}

func (cn *conn) settingLocked(id uint16, v uint32) error {
	switch id {
	case settingTableSize:
		cn.encoder.limit(v)
	case settingPush:
		if v > 1 {
			return broken(codeProtocol, "ENABLE_PUSH neither 0 nor 1")
		}
	case settingWindow:
		if v > maxWindow {
			return broken(codeFlow, "an initial window too large")
		}
		by := int64(v) - cn.peerWindow
		cn.peerWindow = int64(v)
		tooLarge := false
		cn.streams.each(func(c *Call) {
			c.send += by // may become negative: RFC 9113, 6.9.2
			tooLarge = tooLarge || c.send > maxWindow
		})
		if tooLarge {
			return broken(codeFlow, "an initial window too large for an open stream")
		}
	case settingMaxFrame:
		if v < maxFrame || v > 1<<24-1 {
			return broken(codeProtocol, "a bad MAX_FRAME_SIZE")
		}
	}
	return nil
}

func (cn *conn) windowLocked(f frame, p []byte) error {
	if len(p) != 4 {
		return broken(codeFrameSize, "WINDOW_UPDATE of a bad size")
	}
	n := int64(binary.BigEndian.Uint32(p) & maxWindow)
	if f.id == 0 {
		if n == 0 {
			return broken(codeProtocol, "WINDOW_UPDATE by nothing")
		}
		if cn.send += n; cn.send > maxWindow {
			return broken(codeFlow, "the connection's window too large")
		}
		cn.pumpLocked()
		return nil
	}
	if f.id > cn.lastID {
		return broken(codeProtocol, "WINDOW_UPDATE of a stream that never was")
	}
	c := cn.streams.get(f.id)
	if c == nil {
		return nil // it has ended meanwhile
	}
	if n == 0 {
		return cn.refuseLocked(f.id, codeProtocol, Malformed)
	}
	if c.send += n; c.send > maxWindow {
		return cn.refuseLocked(f.id, codeFlow, Malformed)
	}
	cn.pumpLocked()
	return nil
}
