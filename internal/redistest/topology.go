package redistest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// slotCount is the number of hash slots of a Redis Cluster.
const slotCount = 16384

// topology is how one node sees the cluster: its CLUSTER NODES.
type topology []nodeView

// nodeView is one line of CLUSTER NODES.
type nodeView struct {
	id     string
	flags  []string // "myself", "master", "slave", "fail?", "fail", "handshake", ...
	master string   // id of the primary, "-" for a primary
	link   string   // "connected" or "disconnected"
	slots  []slotRange
}

// slotRange is inclusive at both ends.
type slotRange struct{ first, last int }

// topology asks the server for its view.
func (s *Server) topology() (topology, error) {
	v, err := s.Do("CLUSTER", "NODES")
	if err != nil {
		return nil, err
	}
	text, _ := v.(string)
	return parseTopology(text)
}

// parseTopology parses lines of
//
//	id ip:port@bus flags master ping pong epoch link [slot | first-last | [slot->-id]]...
//
// Slots on the move, in brackets, still belong to their source and are left out.
func parseTopology(text string) (topology, error) {
	var top topology
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 8 {
			return nil, fmt.Errorf("parse cluster nodes: short line %q", line)
		}
		n := nodeView{id: f[0], flags: strings.Split(f[2], ","), master: f[3], link: f[7]}
		for _, word := range f[8:] {
			if strings.HasPrefix(word, "[") {
				continue
			}
			r, err := parseSlotRange(word)
			if err != nil {
				return nil, fmt.Errorf("parse cluster nodes: %w", err)
			}
			n.slots = append(n.slots, r)
		}
		top = append(top, n)
	}
	return top, nil
}

func parseSlotRange(word string) (r slotRange, err error) {
	first, last, ok := strings.Cut(word, "-")
	if !ok {
		last = first
	}
	if r.first, err = strconv.Atoi(first); err != nil {
		return r, err
	}
	r.last, err = strconv.Atoi(last)
	return r, err
}

func (n nodeView) has(flag string) bool { return slices.Contains(n.flags, flag) }

// healthy is a node that is known, reachable and not suspected.
func (n nodeView) healthy() bool {
	return !n.has("fail") && !n.has("fail?") && !n.has("handshake") && !n.has("noaddr") &&
		(n.link == "connected" || n.has("myself"))
}

func (n nodeView) owns(slot int) bool {
	return slices.ContainsFunc(n.slots, func(r slotRange) bool { return r.first <= slot && slot <= r.last })
}

// node returns the view of one node.
func (top topology) node(id string) (nodeView, bool) {
	i := slices.IndexFunc(top, func(n nodeView) bool { return n.id == id })
	if i < 0 {
		return nodeView{}, false
	}
	return top[i], true
}

// owner returns the id of the primary that owns slot, "" if none does.
func (top topology) owner(slot int) string {
	i := slices.IndexFunc(top, func(n nodeView) bool { return n.owns(slot) })
	if i < 0 {
		return ""
	}
	return top[i].id
}
