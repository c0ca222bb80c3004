package redisstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/redis/rueidis"

	"github.com/weirlimit/weir"
)

func TestClassify(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for _, tc := range []struct {
		name  string
		err   error
		code  weir.Code
		again bool // certainly not run, and worth another attempt
	}{
		{"deadline of a connection", os.ErrDeadlineExceeded, weir.CodeTimeout, false},
		{"deadline of a context", context.DeadlineExceeded, weir.CodeTimeout, false},
		{"timeout of a dial", &notSentError{dial(os.ErrDeadlineExceeded)}, weir.CodeTimeout, true},
		{"canceled", context.Canceled, weir.CodeCanceled, false},
		{"connection refused", &notSentError{dial(syscall.ECONNREFUSED)}, weir.CodeRefused, true},
		{"connection reset", syscall.ECONNRESET, weir.CodeRefused, false},
		{"broken pipe", fmt.Errorf("write: %w", syscall.EPIPE), weir.CodeRefused, false},
		{"end of stream", io.EOF, weir.CodeRefused, false},
		{"end in a reply", io.ErrUnexpectedEOF, weir.CodeRefused, false},
		{"end of stream before the command", &notSentError{io.EOF}, weir.CodeRefused, true},
		{"no route", &notSentError{dial(syscall.EHOSTUNREACH)}, weir.CodeRefused, true},
		{"no such host", &notSentError{&net.DNSError{Err: "no such host", Name: "x"}}, weir.CodeRefused, true},
		{"closed client", rueidis.ErrClosing, weir.CodeClosed, false},
		{"garbage", errors.New("unknown message type"), weir.CodeProtocol, false},
		{"an error of ours, unsent", &notSentError{&weir.Error{Code: weir.CodeReadOnly}}, weir.CodeReadOnly, true},
		{"an error of ours that stays", &notSentError{&weir.Error{Code: weir.CodeNoAuth}}, weir.CodeNoAuth, false},
		{"an error of ours, sent", &weir.Error{Code: weir.CodeTimeout}, weir.CodeTimeout, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e, again := classify(tc.err)
			if e.Code != tc.code || again != tc.again {
				t.Errorf("code %s, again %v, want %s, %v", e.Code, again, tc.code, tc.again)
			}
		})
	}
}

func TestClassifyReply(t *testing.T) {
	for _, tc := range []struct {
		text  string
		code  weir.Code
		again bool
	}{
		{"READONLY You can't write against a read only replica.", weir.CodeReadOnly, true},
		{"MOVED 3999 127.0.0.1:6381", weir.CodeMoved, true},
		{"ASK 3999 127.0.0.1:6381", weir.CodeMoved, true},
		{"TRYAGAIN Multiple keys request during rehashing of slot", weir.CodeTryAgain, true},
		{"LOADING Redis is loading the dataset in memory", weir.CodeLoading, true},
		{"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", weir.CodeLoading, true},
		{"NOSCRIPT No matching script. Please use EVAL.", weir.CodeLoading, true},
		{"CLUSTERDOWN The cluster is down", weir.CodeClusterDown, true},
		{"CLUSTERDOWN Hash slot not served", weir.CodeClusterDown, true},
		{"ERR Script attempted to access a slot while the cluster is down script: f, on @user_script:1.", weir.CodeClusterDown, true},
		{"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.", weir.CodeTimeout, true},
		{"NOAUTH Authentication required.", weir.CodeNoAuth, false},
		{"WRONGPASS invalid username-password pair or user is disabled.", weir.CodeNoAuth, false},
		{"NOPERM User weir has no permissions to run the 'evalsha' command", weir.CodeNoPerm, false},
		{"NOPERM ACL failure in script: User weir has no permissions to run the 'set' command", weir.CodeNoPerm, false},
		{"ERR ACL failure in script: User weir has no permissions to run the 'set' command", weir.CodeNoPerm, false},
		{"ERR The user executing the script can't run this command or subcommand script: f, on @user_script:7.", weir.CodeNoPerm, false},
		{"ERR The user executing the script can't access at least one of the keys mentioned in the command arguments script: f, on @user_script:7.", weir.CodeNoPerm, false},
		{"OOM command not allowed when used memory > 'maxmemory'.", weir.CodeOOM, false},
		{"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.", weir.CodeReadOnly, false},
		{"NOREPLICAS Not enough good replicas to write.", weir.CodeReadOnly, false},
		{"CROSSSLOT Keys in request don't hash to the same slot", weir.CodeProtocol, false},
		{"ERR unknown command 'EVALSHA'", weir.CodeProtocol, false},
		{"", weir.CodeProtocol, false},
	} {
		e, again := classifyReply(tc.text)
		if e.Code != tc.code || again != tc.again {
			t.Errorf("%q: code %s, again %v, want %s, %v", tc.text, e.Code, again, tc.code, tc.again)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for field, o := range map[string]Options{
		"addrs":       {},
		"addrs ":      {Addrs: []string{"redis://user:secret@h:6379"}},
		"addrs  ":     {Addrs: []string{"a:1", "b:1"}},
		"master_name": {Addrs: []string{"a:1"}, Mode: Sentinel},
		"prefix":      {Addrs: []string{"a:1"}, Prefix: "weir{"},
	} {
		_, err := New(context.Background(), o)
		e := codeError(t, err, weir.CodeInvalid)
		if got := e.Field; got != field[:len(got)] {
			t.Errorf("field %q, want %q", got, field)
		}
	}
}
