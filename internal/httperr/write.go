package httperr

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/weirlimit/weir"
)

// Problem is why there is no decision.
type Problem struct {
	Code    string `json:"code"`
	Field   string `json:"field"`
	Reason  string `json:"reason,omitempty"` // why, for programs; where the code says too little
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Write answers with the status and the text of an error.
func Write(w http.ResponseWriter, err error) {
	e, ok := errors.AsType[*weir.Error](err)
	if !ok {
		e = &weir.Error{Message: "something broke"}
	}
	Send(w, Status(e.Code), Problem{Code: e.Code.String(), Field: e.Field, Message: e.Error(), Hint: e.Hint})
}

// Status returns the status of a code.
func Status(code weir.Code) int {
	switch code {
	case weir.CodeInvalid:
		return http.StatusBadRequest
	case weir.CodePolicyNotFound:
		return http.StatusNotFound
	case weir.CodeNotReady, weir.CodeOverload, weir.CodeClosed, weir.CodeBreaker:
		return http.StatusServiceUnavailable
	case weir.CodeTimeout:
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}

// Send answers with a status and a problem.
func Send(w http.ResponseWriter, status int, p Problem) {
	JSON(w, status, map[string]Problem{"error": p})
}

// JSON answers with a status and a value.
func JSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
