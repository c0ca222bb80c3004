package rls

import (
	"errors"
	"io"
	"net/http"

	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/weirlimit/weir"
)

// maxBody is the largest request over HTTP.
const maxBody = 64 << 10

// ServeHTTP answers POST /json: the same service in protojson. 200 is OK, 429
// OVER_LIMIT, 400 bad input, 500 everything else.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "use POST", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "read body: "+err.Error(), http.StatusBadRequest)
		return
	}
	var in pb.RateLimitRequest
	if err := protojson.Unmarshal(body, &in); err != nil {
		http.Error(w, "parse body: "+err.Error(), http.StatusBadRequest)
		return
	}
	out, err := s.decide(r.Context(), &in)
	if err != nil {
		code := http.StatusInternalServerError
		if e, ok := errors.AsType[*weir.Error](err); ok && e.Code == weir.CodeInvalid {
			code = http.StatusBadRequest
		}
		http.Error(w, err.Error(), code)
		return
	}
	text, err := protojson.Marshal(out)
	if err != nil {
		http.Error(w, "encode answer: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if out.GetOverallCode() == pb.RateLimitResponse_OVER_LIMIT {
		w.WriteHeader(http.StatusTooManyRequests)
	}
	_, _ = w.Write(text)
}
