package redisstore

import (
	"encoding/binary"
	"syscall"
)

// peerClosed tells whether the other side has closed a connection on which
// there still is something to read: its state is the first byte of TCP_INFO.
func peerClosed(fd uintptr) bool {
	const established = 1 // TCP_ESTABLISHED
	v, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_INFO)
	if err != nil {
		return false // not TCP
	}
	var info [4]byte
	binary.NativeEndian.PutUint32(info[:], uint32(v))
	return info[0] != established
}
