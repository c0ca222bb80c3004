package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

func TestRoleReplicaIsRefused(t *testing.T) {
	primary := redistest.Start(t)
	for _, readOnly := range []string{"yes", "no"} {
		t.Run("replica-read-only "+readOnly, func(t *testing.T) {
			replica := redistest.Start(t, redistest.WithReplicaOf(primary.Addr()), redistest.WithConfig("replica-read-only", readOnly))
			_, err := New(context.Background(), Options{Addrs: []string{replica.Addr()}})
			e := codeError(t, err, weir.CodeReadOnly)
			if !strings.Contains(e.Message, replica.Addr()) || e.Hint == "" {
				t.Errorf("%q says neither which server nor what to do", e.Error())
			}
			// Started all the same, it decides nothing there.
			s := open(t, Options{Addrs: []string{replica.Addr()}, AllowDown: true, Deadline: 300 * time.Millisecond})
			wantCode(t, decide(s, one("k", still(10))).Err, weir.CodeReadOnly)
			if calls := replica.CommandStats()["evalsha"]; calls != 0 {
				t.Errorf("%d script calls on a replica", calls)
			}
		})
	}
}

func TestRoleDemotedPrimaryDecidesNothing(t *testing.T) {
	first, second := redistest.Start(t), redistest.Start(t)
	s := open(t, Options{Addrs: []string{first.Addr()}, Deadline: time.Second})
	m := still(10)
	admit(t, s, one("k", m))
	host, port, _ := strings.Cut(second.Addr(), ":")
	first.MustDo("REPLICAOF", host, port)

	b := weir.Batch{Entries: []weir.Entry{one("k", m)}, Deadline: time.Now().Add(300 * time.Millisecond)}
	s.Decide(context.Background(), &b)
	wantCode(t, b.Entries[0].Err, weir.CodeReadOnly)

	// It is not the connection that has to be renewed for it to decide again.
	first.MustDo("REPLICAOF", "NO", "ONE")
	eventually(t, "a decision by the promoted server", func() error { return decide(s, one("k", m)).Err })
	if v := second.MustDo("EXISTS", "k"); v != int64(0) {
		t.Error("something was written to the other server")
	}
}

// When the script's refusal is all that stands between a demoted primary and a
// decision, no answer may come from it.
func TestRoleDemotedUnderLoad(t *testing.T) {
	first, second := redistest.Start(t), redistest.Start(t)
	s := open(t, Options{Addrs: []string{first.Addr()}, Deadline: 500 * time.Millisecond})
	m := still(1_000_000)
	admit(t, s, one("k", m))
	host, port, _ := strings.Cut(second.Addr(), ":")
	stop := make(chan struct{})
	result := make(chan error)
	go func() {
		demoted := false
		for {
			e := decide(s, one("k", m))
			switch {
			case e.Err != nil:
				demoted = true
				if code := weir.CodeOf(e.Err); code != weir.CodeReadOnly {
					result <- fmt.Errorf("error %w, want readonly", e.Err)
					return
				}
			case demoted:
				result <- errors.New("a replica decided")
				return
			}
			select {
			case <-stop:
				var err error
				if !demoted {
					err = errors.New("the demotion went unnoticed")
				}
				result <- err
				return
			default:
			}
		}
	}()
	first.MustDo("REPLICAOF", host, port)
	time.AfterFunc(200*time.Millisecond, func() { close(stop) })
	if err := <-result; err != nil {
		t.Error(err)
	}
}
