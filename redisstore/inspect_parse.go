package redisstore

import (
	"net"
	"strconv"
	"strings"

	"github.com/redis/rueidis"

	"github.com/weirlimit/weir"
)

// slotNodes is who serves a range of slots, and who could take over.
type slotNodes struct {
	slotRange
	replicas []string
}

// parseSlotNodes is parseSlots with the replicas.
func parseSlotNodes(m *rueidis.RedisMessage, asked string) ([]slotNodes, error) {
	ranges, err := parseSlots(m, asked)
	if err != nil {
		return nil, err
	}
	rows, err := m.ToArray()
	if err != nil {
		return nil, err
	}
	out := make([]slotNodes, len(ranges))
	for i := range rows {
		out[i].slotRange = ranges[i]
		row, _ := rows[i].ToArray() // parseSlots has seen that it is one
		for j := 3; j < len(row); j++ {
			node, err := row[j].ToArray()
			if err != nil || len(node) < 2 {
				return nil, &weir.Error{Code: weir.CodeProtocol, Message: "CLUSTER SLOTS is not understood"}
			}
			host, _ := node[0].ToString()
			port, _ := node[1].ToInt64()
			out[i].replicas = append(out[i].replicas, nodeAddr(host, strconv.FormatInt(port, 10), asked))
		}
	}
	return out, nil
}

// parseInfo reads lines of name:value, the reply of INFO and CLUSTER INFO. What
// is none is left out.
func parseInfo(text string) map[string]string {
	fields := make(map[string]string)
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && !strings.HasPrefix(name, "#") {
			fields[name] = value
		}
	}
	return fields
}

// parseRole reads the reply of ROLE: what the server is and, of a primary, its
// replicas as they announce themselves.
func parseRole(m *rueidis.RedisMessage) (role string, replicas []string) {
	items, err := m.ToArray()
	if err != nil || len(items) == 0 {
		return "", nil
	}
	role, _ = items[0].ToString()
	if role != "master" || len(items) < 3 {
		return role, nil
	}
	rows, _ := items[2].ToArray()
	for i := range rows {
		if fields, err := rows[i].AsStrSlice(); err == nil && len(fields) >= 2 {
			replicas = append(replicas, net.JoinHostPort(fields[0], fields[1]))
		}
	}
	return role, replicas
}
