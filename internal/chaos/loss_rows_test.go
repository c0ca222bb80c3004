//go:build !race

package chaos

import (
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

func scriptFlush(t testing.TB, f form) *outcome {
	return emptied(t, f, "SCRIPT FLUSH", 0, func(s *redistest.Server) { s.MustDo("SCRIPT", "FLUSH") })
}

func flushAll(t testing.TB, f form) *outcome {
	return emptied(t, f, "FLUSHALL", 1, func(s *redistest.Server) { s.MustDo("FLUSHALL") })
}

func emptyRestart(t testing.TB, f form) *outcome {
	return emptied(t, f, "empty restart", 1, (*redistest.Server).Restart)
}

// emptied has a server forget something. Where it forgets without going away
// nothing but that is felt; one that goes away is found again as a breaker finds
// it.
func emptied(t testing.TB, f form, name string, bursts float64, do func(*redistest.Server)) *outcome {
	away := name == "empty restart"
	within := f.unfelt
	if away {
		within = deadline
	}
	s, r := onSingle(t, f, within)
	before := r.mark("%s", name)
	do(s)
	done := time.Now()
	r.hold(f.fault)
	r.awaitBack()
	j := r.end(name)
	j.inTime("throughout", before, j.last)
	j.within(bursts)
	if away {
		j.felt(before, j.last)
		j.note("store-backed %v after the restart", j.backWithin(done, lookAgain+recovery).Round(10*time.Millisecond))
	} else {
		j.unfelt(before, j.last)
	}
	return j.out
}

// fullNoEviction has a server run out of memory.
func fullNoEviction(t testing.TB, f form) *outcome {
	s, r := onSingle(t, f, deadline)
	before := r.mark("maxmemory")
	s.ConfigSet("maxmemory-policy", "noeviction")
	s.ConfigSet("maxmemory", "100kb") // less than an empty one takes
	r.awaitDegraded()
	r.hold(f.fault)
	during := r.mark("maxmemory 0")
	s.ConfigSet("maxmemory", "0")
	back := time.Now()
	r.awaitBack()
	j := r.end("maxmemory, noeviction")
	j.felt(before, during)
	j.inTime("while full", before, during)
	j.only("oom", "breaker", "timeout")
	j.backWithin(back, lookAgain+recovery)
	j.within(published(j.result))
	return j.out
}

// calm is how many round trips a store that is known to refuse may see: those
// that open the breaker, and a look now and then.
const calm = 40

func readOnly(t testing.TB, f form) *outcome {
	return refusing(t, f, "READONLY", weir.CodeReadOnly,
		func(s *redistest.Server) { s.MustDo("REPLICAOF", "127.0.0.1", "1") },
		func(s *redistest.Server) { s.MustDo("REPLICAOF", "NO", "ONE") })
}

func noAuth(t testing.TB, f form) *outcome {
	return refusing(t, f, "NOAUTH", weir.CodeNoAuth, func(s *redistest.Server) {
		s.MustDo("ACL", "SETUSER", "weir", "resetpass", ">rotated")
		s.MustDo("CLIENT", "KILL", "USER", "weir")
	}, func(s *redistest.Server) { s.MustDo("ACL", "SETUSER", "weir", "resetpass", ">secret") })
}

func noPerm(t testing.TB, f form) *outcome {
	return refusing(t, f, "NOPERM", weir.CodeNoPerm,
		func(s *redistest.Server) { s.MustDo("ACL", "SETUSER", "weir", "-evalsha", "-eval") },
		func(s *redistest.Server) { s.MustDo("ACL", "SETUSER", "weir", "+@all") })
}

// refusing has a server refuse what it is asked, for a reason that must be the
// one that is counted, and that must not be tried again and again.
func refusing(t testing.TB, f form, name string, code weir.Code, begin, end func(*redistest.Server)) *outcome {
	s := redistest.Start(t, redistest.WithACL("weir on >secret ~* &* +@all"))
	w := serve(t, launch{
		args: []string{"--redis", s.Addr()},
		env:  []string{"WEIR_REDIS_USER=weir", "WEIR_REDIS_PASSWORD=secret"},
	})
	w.awaitReady()
	r := newRig(t, f, w)
	r.load()
	before := r.mark("%s", name)
	begin(s)
	r.awaitDegraded()
	r.hold(f.fault)
	during := r.mark("undone")
	end(s)
	back := time.Now()
	r.awaitBack()
	j := r.end(name)
	j.felt(before, during)
	j.inTime("while refused", before, during)
	seen := during.less(before)
	if seen.degraded[code.String()]+seen.storeErrors[code.String()] == 0 {
		t.Errorf("no reason %v among degraded %v and store errors %v", code, seen.degraded, seen.storeErrors)
	}
	j.only(code.String(), "breaker", "refused", "timeout") // connections that were killed, and checks that waited for others
	j.note("%.0f round trips while refused", seen.storeCalls)
	if seen.storeCalls > calm+4*f.fault.Seconds() {
		t.Errorf("%.0f round trips to a server that refuses, for %.0f degraded answers: want at most %d and 4 a second", seen.storeCalls, total(seen.degraded), calm)
	}
	j.backWithin(back, lookAgain+recovery)
	j.within(published(j.result))
	return j.out
}
