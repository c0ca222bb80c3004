package redistest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Do sends one command on a connection of its own, with the server's TLS and
// as its admin, and returns the reply: string, int64, nil or []any. An error
// reply is a [ReplyError]. It gives up after 10 s.
func (s *Server) Do(args ...string) (any, error) {
	c, err := dial(s.Addr(), s.cfg, commandBound)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.do(args...)
}

// MustDo is [Server.Do] that ends the test on an error.
func (s *Server) MustDo(args ...string) any {
	s.t.Helper()
	v, err := s.Do(args...)
	if err != nil {
		s.t.Fatalf("redistest: %s at %s: %v", strings.Join(args, " "), s.Addr(), err)
	}
	return v
}

// ConfigSet changes one setting of the running server. A restart undoes it.
func (s *Server) ConfigSet(name, value string) {
	s.t.Helper()
	s.MustDo("CONFIG", "SET", name, value)
}

// CommandStats returns how often each command was called since the start or
// the last CONFIG RESETSTAT, by its name in lower case ("evalsha",
// "config|set"). Commands called by scripts count; so does the harness's own
// INFO.
func (s *Server) CommandStats() map[string]int64 {
	s.t.Helper()
	stats := make(map[string]int64)
	for name, fields := range parseInfo(s.MustDo("INFO", "commandstats")) {
		command, ok := strings.CutPrefix(name, "cmdstat_")
		if !ok {
			continue
		}
		_, rest, _ := strings.Cut(fields, "calls=")
		calls, _, _ := strings.Cut(rest, ",")
		n, err := strconv.ParseInt(calls, 10, 64)
		if err != nil {
			s.t.Fatalf("redistest: parse command statistics %s:%s: %v", name, fields, err)
		}
		stats[command] = n
	}
	return stats
}

// CPU returns the processor time, user and system, that the process has used
// since it started.
func (s *Server) CPU() time.Duration {
	s.t.Helper()
	info := parseInfo(s.MustDo("INFO", "cpu"))
	var sum float64 // seconds, to the microsecond
	for _, field := range []string{"used_cpu_user", "used_cpu_sys"} {
		v, err := strconv.ParseFloat(info[field], 64)
		if err != nil {
			s.t.Fatalf("redistest: parse %s: %v", field, err)
		}
		sum += v
	}
	return time.Duration(sum * float64(time.Second))
}

// inSync returns nil once the server is a replica with a live link to its
// primary and all of its data.
func (s *Server) inSync() error {
	v, err := s.Do("INFO", "replication")
	if err != nil {
		return err
	}
	info := parseInfo(v)
	if info["role"] != "slave" {
		return errors.New("role is " + info["role"])
	}
	if info["master_link_status"] != "up" {
		return fmt.Errorf("link to the primary is %s", info["master_link_status"])
	}
	return nil
}

// role returns "master", "slave" or "sentinel".
func (s *Server) role() (string, error) {
	v, err := s.Do("ROLE")
	if err != nil {
		return "", err
	}
	if items, ok := v.([]any); ok && len(items) > 0 {
		if role, ok := items[0].(string); ok {
			return role, nil
		}
	}
	return "", fmt.Errorf("parse role: %v", v)
}

// parseInfo parses lines of name:value, the reply of INFO and CLUSTER INFO.
func parseInfo(v any) map[string]string {
	fields := make(map[string]string)
	text, _ := v.(string)
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields
}
