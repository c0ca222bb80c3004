package obs

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestConnections(t *testing.T) {
	m := New(Options{})
	m.Connections(func() Connections {
		return Connections{Open: 3, Closed: map[string]uint64{"idle": 2}, Refused: map[string]uint64{"overload": 7}}
	})
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{
		"weir_grpc_connections 3\n", `weir_grpc_connections_closed_total{reason="idle"} 2`,
		`weir_grpc_streams_refused_total{reason="overload"} 7`,
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("not there: %s", want)
		}
	}
}
