package httperr_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/httperr"
)

func TestWrite(t *testing.T) {
	for _, tc := range []struct {
		err    error
		status int
		code   string
	}{
		{&weir.Error{Code: weir.CodeInvalid, Field: "cost", Message: "is below 0", Hint: "leave it out"}, 400, "invalid"},
		{fmt.Errorf("check: %w", &weir.Error{Code: weir.CodePolicyNotFound}), 404, "policy_not_found"},
		{&weir.Error{Code: weir.CodeNotReady}, 503, "not_ready"},
		{&weir.Error{Code: weir.CodeOverload}, 503, "overload"},
		{&weir.Error{Code: weir.CodeBreaker}, 503, "breaker"},
		{&weir.Error{Code: weir.CodeClosed}, 503, "closed"},
		{&weir.Error{Code: weir.CodeTimeout}, 504, "timeout"},
		{&weir.Error{Code: weir.CodeProtocol}, 500, "protocol"},
		{errors.New("a secret path"), 500, "internal"},
	} {
		w := httptest.NewRecorder()
		httperr.Write(w, tc.err)
		var body struct{ Error httperr.Problem }
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != tc.status || body.Error.Code != tc.code {
			t.Errorf("%v: %d %s %v", tc.err, w.Code, w.Body, err)
		}
		if w.Header().Get("Content-Type") != "application/json" || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%v: %v %s", tc.err, w.Header(), w.Body)
		}
	}
	w := httptest.NewRecorder()
	httperr.Write(w, &weir.Error{Code: weir.CodeInvalid, Field: "cost", Message: "is below 0", Hint: "leave it out"})
	want := `{"error":{"code":"invalid","field":"cost","message":"cost: is below 0 (leave it out)","hint":"leave it out"}}` + "\n"
	if w.Body.String() != want {
		t.Errorf("%s, want %s", w.Body, want)
	}
	w = httptest.NewRecorder()
	httperr.Write(w, &weir.Error{Code: weir.CodeInvalid, Field: "cost", Message: "is below 0"})
	if want := `{"error":{"code":"invalid","field":"cost","message":"cost: is below 0"}}` + "\n"; w.Body.String() != want {
		t.Errorf("without a hint: %s, want %s", w.Body, want)
	}
}
