package weir_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/weirlimit/weir"
)

func TestErrorText(t *testing.T) {
	cause := errors.New("connection reset")
	for _, tt := range []struct {
		err  weir.Error
		want string
	}{
		{weir.Error{Message: "call redis"}, "call redis"},
		{weir.Error{Field: "count", Message: "0 is too small"}, "count: 0 is too small"},
		{weir.Error{Message: "call redis", Err: cause}, "call redis: connection reset"},
		{weir.Error{Err: cause}, "connection reset"},
		{weir.Error{Field: "count", Message: "0 is too small", Hint: "give more"}, "count: 0 is too small (give more)"},
		{weir.Error{Message: "call redis", Err: cause, Hint: "is it up?"}, "call redis: connection reset (is it up?)"},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

func TestErrorIsMatchesByCode(t *testing.T) {
	err := fmt.Errorf("decide: %w", &weir.Error{
		Code: weir.CodeTimeout, Message: "no answer", Hint: "look at redis", Err: context.DeadlineExceeded,
	})
	for _, tt := range []struct {
		name   string
		target error
		want   bool
	}{
		{"its code", &weir.Error{Code: weir.CodeTimeout}, true},
		{"another code", &weir.Error{Code: weir.CodeRefused}, false},
		{"the zero code", &weir.Error{}, false},
		{"its code and a message", &weir.Error{Code: weir.CodeTimeout, Message: "no answer"}, false},
		{"its code and a field", &weir.Error{Code: weir.CodeTimeout, Field: "x"}, false},
		{"its cause", context.DeadlineExceeded, true},
		{"another cause", context.Canceled, false},
	} {
		if got := errors.Is(err, tt.target); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

func TestCodeOf(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want weir.Code
	}{
		{nil, weir.CodeInternal},
		{errors.New("other"), weir.CodeInternal},
		{&weir.Error{}, weir.CodeInternal},
		{&weir.Error{Code: weir.CodeOOM}, weir.CodeOOM},
		{fmt.Errorf("a: %w", fmt.Errorf("b: %w", &weir.Error{Code: weir.CodeMoved})), weir.CodeMoved},
		{errors.Join(errors.New("other"), &weir.Error{Code: weir.CodeClosed}), weir.CodeClosed},
	} {
		if got := weir.CodeOf(tt.err); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.err, got, tt.want)
		}
	}
}

func TestTemporaryCodes(t *testing.T) {
	temporary := map[weir.Code]bool{
		weir.CodeNotReady: true, weir.CodeOverload: true, weir.CodeTimeout: true, weir.CodeRefused: true, weir.CodeReadOnly: true,
		weir.CodeMoved: true, weir.CodeTryAgain: true, weir.CodeLoading: true, weir.CodeClusterDown: true, weir.CodeBreaker: true,
	}
	for c := weir.CodeInternal; c <= weir.CodeBreaker; c++ {
		if c.Temporary() != temporary[c] {
			t.Errorf("%v: temporary is %v", c, c.Temporary())
		}
	}
}
