package redisstore

import (
	"crypto/sha1"
	"encoding/hex"
	"slices"
	"time"

	"github.com/redis/rueidis"

	"github.com/weirlimit/weir/internal/doctor"
)

// probeScript does what a decision does, without a write. It stays among the
// scripts that the server has loaded, until it restarts.
const probeScript = `#!lua
redis.call('TIME')
return redis.call('GET', KEYS[1])
`

// noScript is a digest that no script has.
const noScript = "0000000000000000000000000000000000000000"

// need is a command of docs/redis.md's ACL rule, and how to try it.
type need struct {
	command string // as the rule has it
	args    func(key string) []string
}

// needs are tried in this order. None changes anything: the SET is of a key that
// does not exist, on condition that it does, the SETRANGE of nothing, and so they
// meet everything that may refuse a write before they do nothing.
var needs = []need{
	{"script|load", func(string) []string { return []string{"SCRIPT", "LOAD", probeScript} }},
	// Of no script: what a script may do is asked by itself.
	{"evalsha", func(key string) []string { return []string{"EVALSHA", noScript, "1", key} }},
	{"get", func(key string) []string { return []string{"GET", key} }},
	{"mget", func(key string) []string { return []string{"MGET", key} }},
	{"set", func(key string) []string { return []string{"SET", key, "", "XX", "KEEPTTL"} }},
	{"setrange", func(key string) []string { return []string{"SETRANGE", key, "0", ""} }},
	{"del", func(key string) []string { return []string{"DEL", key} }},
	{"time", func(string) []string { return []string{"TIME"} }},
	{"role", func(string) []string { return []string{"ROLE"} }},
	{"ping", func(string) []string { return []string{"PING"} }},
}

// clusterNeeds are those of a cluster besides.
var clusterNeeds = []need{
	{"cluster|slots", func(string) []string { return []string{"CLUSTER", "SLOTS"} }},
	{"asking", func(string) []string { return []string{"ASKING"} }},
}

// probe tries every command that Weir uses. To do it is the only test that
// needs no rights besides: ACL DRYRUN is an administrator's. A server says
// whether a user may before it says MOVED or READONLY, so replicas can be asked
// too.
func (i *inspector) probe(q *questions, d *doctor.Node, key string) {
	list := needs
	if i.opts.Mode == Cluster {
		list = slices.Concat(needs, clusterNeeds)
	}
	for _, need := range list {
		_, err := q.ask(need.args(key)...)
		t := doctor.Try{Command: need.command}
		if err != nil && !rueidis.IsRedisNil(err) {
			t.Err = i.explain(err)
		}
		d.Tried = append(d.Tried, t)
	}
}

// samples is how many round trips are timed: enough for a p99 to mean the
// slowest, and a tenth of a second at 1 ms each.
const samples = 50

// measure times round trips of TIME, which tells the clock besides and costs
// what a PING does, and of a script on primaries. The fastest round trip tells
// the clock best: the answer was written at its middle, give or take a half.
func (q *questions) measure(d *doctor.Node, key string) {
	for range samples {
		before := time.Now()
		m, err := q.ask("TIME")
		took := time.Since(before)
		if err != nil {
			return
		}
		parts, err := m.AsIntSlice()
		if err != nil || len(parts) != 2 {
			return
		}
		d.Rounds = append(d.Rounds, took)
		there := time.Unix(parts[0], parts[1]*int64(time.Microsecond))
		if d.Clock == nil || took/2 < d.Clock.Within {
			d.Clock = &doctor.Offset{Ahead: there.Sub(before.Add(took / 2)), Within: took / 2}
		}
	}
	slices.Sort(d.Rounds)
	if d.Role != "master" {
		return
	}
	sum := sha1.Sum([]byte(probeScript))
	sha := hex.EncodeToString(sum[:])
	for range samples {
		before := time.Now()
		_, err := q.ask("EVALSHA", sha, "1", key)
		took := time.Since(before)
		if err != nil && !rueidis.IsRedisNil(err) {
			d.Scripts = nil
			return
		}
		d.Scripts = append(d.Scripts, took)
	}
	slices.Sort(d.Scripts)
}
