package redistest

import "testing"

// addrs returns the addresses of servers.
func addrs(servers []*Server) []string {
	var out []string
	for _, s := range servers {
		out = append(out, s.Addr())
	}
	return out
}

// firstRunning returns the first server that can be expected to answer.
func firstRunning(t testing.TB, servers []*Server) *Server {
	t.Helper()
	for _, s := range servers {
		if s.running() {
			return s
		}
	}
	t.Fatal("redistest: no server of the group is running")
	return nil
}
