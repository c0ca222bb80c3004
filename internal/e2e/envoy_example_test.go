package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	descriptorv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	mutationv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/header_mutation/v3"
	jwtv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
	limitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ratelimit/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3" // its name in an Any
	managerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	optionsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	rlsv3 "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/anypb"
)

const envoyExample = "../../examples/envoy.yaml"

// example is examples/envoy.yaml as Envoy would read it.
func example(t *testing.T) *bootstrapv3.Bootstrap {
	t.Helper()
	text, err := os.ReadFile(envoyExample)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	var b bootstrapv3.Bootstrap
	if err := protojson.Unmarshal(data, &b); err != nil { // unknown fields are errors
		t.Fatal(err)
	}
	return &b
}

// validated unpacks a message and validates it: validation of what holds an Any
// stops there.
func validated[M interface{ ValidateAll() error }](t *testing.T, a *anypb.Any) M {
	t.Helper()
	m, err := a.UnmarshalNew()
	if err != nil {
		t.Fatal(err)
	}
	typed, ok := m.(M)
	if !ok {
		t.Fatalf("%T is another type", m)
	}
	if err := typed.ValidateAll(); err != nil {
		t.Errorf("%T: %v", m, err)
	}
	return typed
}

// TestEnvoyExample: the example is a bootstrap that Envoy's own types accept,
// to the bottom, and it asks where Weir listens.
func TestEnvoyExample(t *testing.T) {
	t.Parallel()
	b := example(t)
	if err := b.ValidateAll(); err != nil {
		t.Fatal(err)
	}
	filter, _ := exampleFilter(t, b)
	if filter.GetFailureModeDeny() || filter.GetTimeout().AsDuration() <= 0 {
		t.Errorf("%v", filter)
	}
	name := filter.GetRateLimitService().GetGrpcService().GetEnvoyGrpc().GetClusterName()
	for _, c := range b.GetStaticResources().GetClusters() {
		for _, options := range c.GetTypedExtensionProtocolOptions() {
			validated[*optionsv3.HttpProtocolOptions](t, options)
		}
		if c.GetName() != name {
			continue
		}
		at := c.GetLoadAssignment().GetEndpoints()[0].GetLbEndpoints()[0].GetEndpoint().GetAddress().GetSocketAddress()
		if at.GetAddress() != "127.0.0.1" || at.GetPortValue() != 8081 {
			t.Errorf("it asks at %v; weir serve listens at 127.0.0.1:8081", at)
		}
		return
	}
	t.Errorf("there is no cluster %q", name)
}

// exampleFilter returns the rate limit filter, and the descriptors that the
// routes make.
func exampleFilter(t *testing.T, b *bootstrapv3.Bootstrap) (*limitv3.RateLimit, []*routev3.RateLimit) {
	t.Helper()
	chain := b.GetStaticResources().GetListeners()[0].GetFilterChains()[0]
	manager := validated[*managerv3.HttpConnectionManager](t, chain.GetFilters()[0].GetTypedConfig())
	var filter *limitv3.RateLimit
	for _, f := range manager.GetHttpFilters() {
		if f.GetName() == "envoy.filters.http.ratelimit" {
			filter = validated[*limitv3.RateLimit](t, f.GetTypedConfig())
			continue
		}
		validated[interface{ ValidateAll() error }](t, f.GetTypedConfig())
	}
	if filter == nil {
		t.Fatal("there is no rate limit filter")
	}
	return filter, manager.GetRouteConfig().GetVirtualHosts()[0].GetRateLimits()
}

// TestEnvoyExamplePolicies: the policies in the example's comments, in both
// formats, limit what its actions send.
func TestEnvoyExamplePolicies(t *testing.T) {
	t.Parallel()
	filter, limits := exampleFilter(t, example(t))
	request := &rlsv3.RateLimitRequest{Domain: filter.GetDomain()}
	for _, l := range limits {
		key := maskedAddress(l.GetActions()[0])
		if claim := l.GetActions()[0].GetMetadata(); claim != nil {
			key = claim.GetDescriptorKey()
		} else if key == "" {
			t.Errorf("%v takes something for true that a client may say", l)
		}
		request.Descriptors = append(request.Descriptors, &descriptorv3.RateLimitDescriptor{
			Entries: []*descriptorv3.RateLimitDescriptor_Entry{{Key: key, Value: "v"}},
		})
	}
	policies := commented(t)
	if len(policies) != 2 {
		t.Fatalf("%d policies in the comments", len(policies))
	}
	for _, text := range policies {
		path := filepath.Join(t.TempDir(), "policies.yaml")
		write(t, path, text)
		w := serve(t, "--config", path)
		out, err := rlsv3.NewRateLimitServiceClient(dial(t, w.grpc)).ShouldRateLimit(context.Background(), request)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range out.GetStatuses() {
			if s.GetCurrentLimit() == nil {
				t.Errorf("%v is not limited by\n%s", request.GetDescriptors()[i], text)
			}
		}
	}
}

// maskedAddress is the key that an action makes of the client's address when a
// whole /64 of IPv6 is one client; empty for any other action.
func maskedAddress(a *routev3.RateLimit_Action) string {
	if m := a.GetMaskedRemoteAddress(); m.GetV4PrefixMaskLen().GetValue() == 32 && m.GetV6PrefixMaskLen().GetValue() == 64 {
		return "masked_remote_address"
	}
	return ""
}

// TestEnvoyExampleToken: the backend is shown what Envoy has verified of a token
// and never the token, which Envoy may have missed; nor what a client says in
// its place.
func TestEnvoyExampleToken(t *testing.T) {
	t.Parallel()
	chain := example(t).GetStaticResources().GetListeners()[0].GetFilterChains()[0]
	manager := validated[*managerv3.HttpConnectionManager](t, chain.GetFilters()[0].GetTypedConfig())
	removed := map[string]bool{}
	for _, f := range manager.GetHttpFilters() {
		switch f.GetName() {
		case "envoy.filters.http.header_mutation":
			for _, m := range validated[*mutationv3.HeaderMutation](t, f.GetTypedConfig()).GetMutations().GetRequestMutations() {
				removed[m.GetRemove()] = true
			}
			continue
		case "envoy.filters.http.jwt_authn":
		default:
			continue
		}
		p := validated[*jwtv3.JwtAuthentication](t, f.GetTypedConfig()).GetProviders()["idp"]
		if p.GetForward() || !removed[p.GetForwardPayloadHeader()] {
			t.Errorf("the backend gets the token: %v; its payload in %q, before which %v is removed", p.GetForward(), p.GetForwardPayloadHeader(), removed)
		}
		if got := manager.GetRouteConfig().GetVirtualHosts()[0].GetRequestHeadersToRemove(); !slices.Contains(got, "authorization") {
			t.Errorf("of the request only %q is removed: Envoy finds no token behind bearer, and the backend may", got)
		}
		return
	}
	t.Error("there is no JWT filter")
}

// commented returns the YAML in the comment at the head of the example.
func commented(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(envoyExample)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, block := range regexp.MustCompile(`(?m)(^#   .*\n)+`).FindAllString(string(text), -1) {
		if block = strings.ReplaceAll(block, "#   ", ""); strings.HasPrefix(block, "domain:") {
			found = append(found, block)
		}
	}
	return found
}
