package frameworks

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/gin-gonic/gin"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/embedded"
	"github.com/weirlimit/weir/httplimit"
)

func init() { gin.SetMode(gin.TestMode) }

func open(t *testing.T) *embedded.Limits {
	t.Helper()
	limits, err := embedded.Open("policies.yaml", embedded.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = limits.Close() })
	return limits
}

// TestDenied: three orders an hour, on a real listener, and then 429.
func TestDenied(t *testing.T) {
	for name, tc := range map[string]struct {
		handler func(weir.Checker) http.Handler
		route   string // as the policy may name it
	}{
		"net/http":           {NetHTTP, ""},
		"net/http, by route": {NetHTTPRoute, "GET /orders/{id}"},
		"chi":                {Chi, "/orders/{id}"},
		"gin":                {Gin, "/orders/:id"},
		"echo":               {Echo, "/orders/:id"},
	} {
		t.Run(name, func(t *testing.T) {
			limits := &routes{Limits: open(t)}
			srv := httptest.NewServer(tc.handler(limits))
			defer srv.Close()
			for i, want := range []int{200, 200, 200, 429} {
				resp, err := http.Get(srv.URL + "/orders/" + string(rune('1'+i)))
				if err != nil {
					t.Fatal(err)
				}
				body, _ := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if resp.StatusCode != want || resp.Header.Get("RateLimit") == "" {
					t.Errorf("request %d: %d %v %s", i+1, resp.StatusCode, resp.Header, body)
				}
				if want == 200 && !strings.HasPrefix(string(body), "order ") {
					t.Errorf("request %d: %q", i+1, body)
				}
				if want == 429 && (resp.Header.Get("Retry-After") == "" || !strings.Contains(string(body), `"violated-policies":["orders"]`)) {
					t.Errorf("denied: %v %s", resp.Header, body)
				}
			}
			if limits.last != tc.route {
				t.Errorf("the route is %q, want %q", limits.last, tc.route)
			}
			if resp, err := http.Get(srv.URL + "/nowhere"); err != nil || resp.StatusCode != 404 {
				t.Errorf("elsewhere: %v %v", resp, err)
			} else {
				_ = resp.Body.Close()
			}
		})
	}
}

// routes remembers the route of the last request.
type routes struct {
	*embedded.Limits
	last string
}

func (r *routes) Check(ctx context.Context, req *weir.Request, d *weir.Decision) error {
	r.last = ""
	for _, p := range req.Descriptors[0].Pairs {
		if p.Name == "route" {
			r.last = p.Value
		}
	}
	return r.Limits.Check(ctx, req, d)
}

// TestCostAfter: frameworks that write to a writer of their own are seen too.
func TestCostAfter(t *testing.T) {
	type seen struct {
		status int
		bytes  int64
	}
	for name, handler := range map[string]func(weir.Checker, httplimit.Option) http.Handler{
		"gin": func(c weir.Checker, o httplimit.Option) http.Handler {
			r := gin.New()
			r.Use(GinLimit(c, o))
			r.GET("/", func(c *gin.Context) { c.String(http.StatusAccepted, "hello") })
			return r
		},
	} {
		t.Run(name, func(t *testing.T) {
			var have seen
			h := handler(open(t), httplimit.WithCostAfter(func(_ *http.Request, status int, bytes int64, _ http.Header) int64 {
				have = seen{status, bytes}
				return 0
			}))
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
			if want := (seen{http.StatusAccepted, 5}); have != want {
				t.Errorf("%+v, want %+v", have, want)
			}
		})
	}
}

// TestConnect: a denial reaches callers of every protocol as what it is.
func TestConnect(t *testing.T) {
	for name, opts := range map[string][]connect.ClientOption{
		"connect": nil, "grpc-web": {connect.WithGRPCWeb()},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(Connect(open(t)))
			defer srv.Close()
			client := connect.NewClient[emptypb.Empty, emptypb.Empty](srv.Client(), srv.URL+pingProcedure, opts...)
			for i := range 4 {
				_, err := client.CallUnary(t.Context(), connect.NewRequest(&emptypb.Empty{}))
				if i < 3 && err != nil || i == 3 && connect.CodeOf(err) != connect.CodeResourceExhausted {
					t.Errorf("call %d: %v", i+1, err)
				}
			}
		})
	}
	srv := httptest.NewServer(Connect(open(t)))
	defer srv.Close()
	for i, want := range []int{200, 200, 200, 429} {
		resp, err := http.Post(srv.URL+pingProcedure, "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("request %d: %d", i+1, resp.StatusCode)
		}
	}
}
