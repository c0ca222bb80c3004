package shed_test

import (
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/shed"
)

func classifier(t testing.TB, r shed.Rules) *shed.Classifier {
	t.Helper()
	c, err := shed.NewClassifier(r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestClassify(t *testing.T) {
	rules := shed.Rules{
		Routes: []shed.Route{
			{Pattern: "POST /v1/charges", Priority: shed.Critical},
			{Pattern: "POST|put  /v1/refunds/*", Priority: shed.Critical},
			{Pattern: "/v1/orders/{id}", Priority: shed.Critical},
			{Pattern: "/sandbox/*", Priority: shed.Test},
			{Pattern: "/sandbox/live", Priority: shed.Critical},
			{Pattern: "/shop.v1.Orders/Place", Priority: shed.Critical},
		},
		Header: "X-Priority",
	}
	trusting := rules
	trusting.TrustHeader = true
	plain, trusted := classifier(t, rules), classifier(t, trusting)
	open := classifier(t, shed.Rules{Exempt: []string{}})
	own := classifier(t, shed.Rules{Exempt: []string{"/ping"}})
	for _, tt := range []struct {
		name   string
		c      *shed.Classifier
		r      shed.Request
		want   shed.Priority
		exempt bool
	}{
		{"a read", plain, shed.Request{Method: "GET", Path: "/x"}, shed.Read, false},
		{"a write", plain, shed.Request{Method: "DELETE", Path: "/x"}, shed.Write, false},
		{"gRPC", plain, shed.Request{Path: "/shop.v1.Orders/List"}, shed.Write, false},
		{"a critical method of gRPC", plain, shed.Request{Path: "/shop.v1.Orders/Place"}, shed.Critical, false},
		{"no rules", nil, shed.Request{Method: "GET", Path: "/x", Header: []string{"critical"}}, shed.Read, false},
		{"a critical route", plain, shed.Request{Method: "POST", Path: "/v1/charges"}, shed.Critical, false},
		{"another method of it", plain, shed.Request{Method: "GET", Path: "/v1/charges"}, shed.Read, false},
		{"one that begins like it", plain, shed.Request{Method: "POST", Path: "/v1/charges/7"}, shed.Write, false},
		{"several methods", plain, shed.Request{Method: "PUT", Path: "/v1/refunds/7"}, shed.Critical, false},
		{"dots", plain, shed.Request{Method: "POST", Path: "/v1/refunds/../search"}, shed.Write, false},
		{"by the router's pattern", plain, shed.Request{Method: "POST", Path: "/v1/orders/7", Route: "POST /v1/orders/{id}"}, shed.Critical, false},
		{"by its pattern without a method", plain, shed.Request{Method: "POST", Path: "/v1/orders/7", Route: "/v1/orders/{id}"}, shed.Critical, false},
		{"the first counts", plain, shed.Request{Method: "POST", Path: "/sandbox/live"}, shed.Test, false},

		{"a header lowers", plain, shed.Request{Method: "POST", Path: "/v1/charges", Header: []string{"test"}}, shed.Test, false},
		{"a header does not promote", plain, shed.Request{Method: "GET", Path: "/x", Header: []string{"critical"}}, shed.Read, false},
		{"nor by standing twice", plain, shed.Request{Method: "POST", Path: "/x", Header: []string{"critical", "critical"}}, shed.Write, false},
		{"a word that is none", plain, shed.Request{Method: "POST", Path: "/x", Header: []string{"urgent"}}, shed.Write, false},
		{"a trusted header promotes", trusted, shed.Request{Method: "GET", Path: "/x", Header: []string{" Critical "}}, shed.Critical, false},
		{"a trusted header lowers", trusted, shed.Request{Method: "POST", Path: "/v1/charges", Header: []string{"read"}}, shed.Read, false},
		{"the client's beside the gateway's", trusted, shed.Request{Method: "GET", Path: "/x", Header: []string{"critical", "test"}}, shed.Test, false},

		{"health", plain, shed.Request{Method: "GET", Path: "/healthz"}, shed.Read, true},
		{"health without rules", nil, shed.Request{Method: "HEAD", Path: "/readyz"}, shed.Read, true},
		{"health of gRPC", plain, shed.Request{Path: "/grpc.health.v1.Health/Check"}, shed.Write, true},
		{"a health check that writes", plain, shed.Request{Method: "POST", Path: "/healthz"}, shed.Write, false},
		{"below health", plain, shed.Request{Method: "GET", Path: "/healthz/x"}, shed.Read, false},
		{"dots in health", plain, shed.Request{Path: "/grpc.health.v1.Health/../Orders/List"}, shed.Write, false},
		{"nothing exempt", open, shed.Request{Method: "GET", Path: "/healthz"}, shed.Read, false},
		{"exempt by name", own, shed.Request{Method: "GET", Path: "/ping"}, shed.Read, true},
	} {
		if got, exempt := tt.c.Classify(&tt.r), tt.c.Exempt(&tt.r); got != tt.want || exempt != tt.exempt {
			t.Errorf("%s: %v, exempt %v", tt.name, got, exempt)
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		plain.Classify(&shed.Request{Method: "POST", Path: "/v1/refunds/7", Route: "POST /x", Header: []string{"read"}})
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestBadRules(t *testing.T) {
	many := make([]shed.Route, shed.MaxRoutes+1)
	for i := range many {
		many[i].Pattern = "/x"
	}
	for field, list := range map[string][]shed.Rules{
		"routes": {
			{Routes: []shed.Route{{Pattern: ""}}},
			{Routes: []shed.Route{{Pattern: "POST"}}},
			{Routes: []shed.Route{{Pattern: "POST charges"}}},
			{Routes: []shed.Route{{Pattern: "P0ST /x"}}},
			{Routes: []shed.Route{{Pattern: "GET| /x"}}},
			{Routes: []shed.Route{{Pattern: "/a*b"}}},
			{Routes: []shed.Route{{Pattern: "/a?b=1"}}},
			{Routes: []shed.Route{{Pattern: "/a", Priority: 9}}},
			{Routes: many},
		},
		"header": {{TrustHeader: true}},
		"exempt": {{Exempt: []string{"healthz"}}},
	} {
		for _, r := range list {
			_, err := shed.NewClassifier(r)
			e, ok := err.(*weir.Error)
			if !ok || e.Code != weir.CodeInvalid || e.Field != field || e.Hint == "" {
				t.Errorf("%+v: %v", r.Routes, err)
			}
		}
	}
}
