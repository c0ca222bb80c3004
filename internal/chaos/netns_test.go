//go:build !race && linux

package chaos

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// namespace is a network of its own, joined to this one by two links: one for
// the load and the scrapes, one to Redis, which can be cut.
//
//	load, /metrics  outer[0] ---- inner[0]  weir serve
//	redis-server    outer[1] -x-- inner[1]
type namespace struct {
	t            testing.TB
	name         string
	outer, inner [2]string // addresses
}

// newNamespace makes one. It ends with the test.
func newNamespace(t testing.TB) *namespace {
	t.Helper()
	if _, err := exec.LookPath("ip"); err != nil {
		t.Fatal("ip not found: run scripts/setup or apt-get install iproute2")
	}
	// Of the range that is for tests of networks: 198.18.0.0/15.
	n := &namespace{t: t, name: fmt.Sprintf("weir%d", os.Getpid())}
	if out, err := exec.Command("ip", "netns", "add", n.name).CombinedOutput(); err != nil {
		t.Fatalf("make a network namespace: %v: %s\nThe partition is a real one and needs CAP_NET_ADMIN and CAP_SYS_ADMIN: "+
			"run the suite as root, in a container with both.", err, out)
	}
	t.Cleanup(func() { n.ip("netns", "del", n.name) })
	for i := range n.outer {
		outside, inside := fmt.Sprintf("%so%d", n.name, i), fmt.Sprintf("%si%d", n.name, i)
		net := fmt.Sprintf("198.%d.%d.%d", 18+rand.IntN(2), rand.IntN(256), 4*rand.IntN(64))
		base, last := net[:strings.LastIndexByte(net, '.')+1], net[strings.LastIndexByte(net, '.')+1:]
		first, err := strconv.Atoi(last)
		if err != nil {
			t.Fatal(err)
		}
		n.outer[i], n.inner[i] = base+strconv.Itoa(first+1), base+strconv.Itoa(first+2)
		n.ip("link", "add", outside, "type", "veth", "peer", "name", inside, "netns", n.name)
		t.Cleanup(func() { _ = exec.Command("ip", "link", "del", outside).Run() }) // mostly gone with the namespace
		n.ip("addr", "add", n.outer[i]+"/30", "dev", outside)
		n.ip("link", "set", outside, "up")
		n.ip("-n", n.name, "addr", "add", n.inner[i]+"/30", "dev", inside)
		n.ip("-n", n.name, "link", "set", inside, "up")
	}
	n.ip("-n", n.name, "link", "set", "lo", "up")
	return n
}

func (n *namespace) ip(args ...string) {
	n.t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		n.t.Errorf("ip %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// in is how a command is run there.
func (n *namespace) in() []string { return []string{"/usr/bin/env", "ip", "netns", "exec", n.name} }

// cut takes the link to Redis away: what is sent is dropped without a word.
func (n *namespace) cut() { n.ip("link", "set", n.name+"o1", "down") }

// heal undoes cut.
func (n *namespace) heal() { n.ip("link", "set", n.name+"o1", "up") }

// dials is how many connections were begun in the namespace of a process.
func dials(t testing.TB, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/snmp", pid))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(b)) {
		fields := strings.Fields(line)
		if fields[0] != "Tcp:" {
			continue
		}
		if names == nil {
			names = fields
			continue
		}
		for i, name := range names {
			if name == "ActiveOpens" {
				v, err := strconv.Atoi(fields[i])
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
		}
	}
	t.Fatalf("no count of connections in:\n%s", b)
	return 0
}
