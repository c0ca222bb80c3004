package redisstore

import (
	"net"
	"strings"
)

// redirect reads MOVED and ASK errors: "MOVED 3999 127.0.0.1:6381". The port
// comes after the last colon, also where the host has some itself and no
// brackets. asked is the node that answered.
func redirect(err error, asked string) (addr string, asking, ok bool) {
	text, isReply := replyText(err)
	if !isReply {
		return "", false, false
	}
	words := strings.Fields(text)
	if len(words) != 3 || words[0] != "MOVED" && words[0] != "ASK" {
		return "", false, false
	}
	colon := strings.LastIndexByte(words[2], ':')
	if colon < 0 {
		return "", false, false
	}
	return nodeAddr(words[2][:colon], words[2][colon+1:], asked), words[0] == "ASK", true
}

// nodeAddr is what a node is called that another, asked, names: a shard by that
// name is the same in a topology and in a redirect. Without a host, or with one
// that is not known, it is where asked is.
func nodeAddr(host, port, asked string) string {
	if host == "" || host == "?" {
		host, _, _ = net.SplitHostPort(asked)
	}
	return net.JoinHostPort(host, port)
}
