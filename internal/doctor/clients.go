package doctor

import "strconv"

// clientsWarn is how much of maxclients may be taken, in percent.
const clientsWarn = 80

// clients judges how connections are treated.
func (j *judge) clients() {
	n := j.node
	have, ok := n.info("connected_clients")
	if !ok {
		j.blind(CheckClients, "connected_clients", info)
		return
	}
	before := len(j.found)
	limit, limited := n.number("maxclients")
	if limited && float64(have)*100 >= float64(limit)*clientsWarn {
		j.addf(CheckClients, Warn, "raise maxclients, or find who keeps connections (CLIENT LIST)",
			"%d of %d connections are taken: at the end of them Weir gets none", have, limit)
	}
	if idle, _ := n.number("timeout"); idle > 0 {
		j.addf(CheckClients, Warn, j.set("timeout", "0"),
			"timeout is %d s: connections that idle are closed, and the next requests wait for new ones", idle)
	}
	if alive, ok := n.number("tcp-keepalive"); ok && alive == 0 {
		j.add(CheckClients, Warn, "tcp-keepalive is 0: connections of clients that are gone stay", j.set("tcp-keepalive", "300"))
	}
	if busy, ok := n.number("busy-reply-threshold"); ok && busy <= 0 {
		j.add(CheckClients, Warn, "busy-reply-threshold is "+strconv.FormatInt(busy, 10)+": a script that does not end cannot be stopped",
			j.set("busy-reply-threshold", "5000"))
	}
	if len(j.found) > before {
		return
	}
	if limited {
		j.addf(CheckClients, OK, "", "%d of %d connections", have, limit)
	} else {
		j.addf(CheckClients, OK, "", "%d connections", have)
	}
}
