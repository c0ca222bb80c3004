package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	rulesv3 "github.com/envoyproxy/go-control-plane/envoy/config/common/mutation_rules/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	descriptorv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	mutationv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/header_mutation/v3"
	limitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ratelimit/v3"
	managerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	optionsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	rlsv3 "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// envoyFilter is Istio's resource, as far as the example uses it. Fields that
// are not here are errors.
type envoyFilter struct {
	APIVersion string                           `yaml:"apiVersion"`
	Kind       string                           `yaml:"kind"`
	Metadata   struct{ Name, Namespace string } `yaml:"metadata"`
	Spec       struct {
		WorkloadSelector struct {
			Labels map[string]string `yaml:"labels"`
		} `yaml:"workloadSelector"`
		ConfigPatches []struct {
			ApplyTo string `yaml:"applyTo"`
			Match   struct {
				Context  string `yaml:"context"`
				Listener struct {
					FilterChain struct {
						Filter struct {
							Name      string `yaml:"name"`
							SubFilter struct {
								Name string `yaml:"name"`
							} `yaml:"subFilter"`
						} `yaml:"filter"`
					} `yaml:"filterChain"`
				} `yaml:"listener"`
			} `yaml:"match"`
			Patch struct {
				Operation string `yaml:"operation"`
				Value     any    `yaml:"value"`
			} `yaml:"patch"`
		} `yaml:"configPatches"`
	} `yaml:"spec"`
}

// TestEnvoyFilterExample: the patches of the Kubernetes example are what Envoy's
// own types accept, they name one cluster, and what they make Envoy ask is
// limited by the policies of envoy.yaml.
func TestEnvoyFilterExample(t *testing.T) {
	t.Parallel()
	file, err := os.Open("../../examples/kubernetes-envoyfilter.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var f envoyFilter
	dec := yaml.NewDecoder(file)
	dec.KnownFields(true)
	if err := dec.Decode(&f); err != nil {
		t.Fatal(err)
	}
	if f.APIVersion != "networking.istio.io/v1alpha3" || f.Kind != "EnvoyFilter" || f.Metadata.Name == "" || len(f.Spec.WorkloadSelector.Labels) == 0 {
		t.Errorf("%+v", f)
	}
	var cluster clusterv3.Cluster
	var filter, forget managerv3.HttpFilter
	var host routev3.VirtualHost
	values := map[string]proto.Message{
		"CLUSTER ADD": &cluster, "HTTP_FILTER INSERT_FIRST": &forget,
		"HTTP_FILTER INSERT_BEFORE": &filter, "VIRTUAL_HOST MERGE": &host,
	}
	for _, p := range f.Spec.ConfigPatches {
		value := values[p.ApplyTo+" "+p.Patch.Operation]
		if value == nil || p.Match.Context != "GATEWAY" {
			t.Fatalf("a patch of another kind: %s %s in %s", p.ApplyTo, p.Patch.Operation, p.Match.Context)
		}
		data, err := json.Marshal(p.Patch.Value)
		if err != nil {
			t.Fatal(err)
		}
		if err := protojson.Unmarshal(data, value); err != nil { // unknown fields are errors
			t.Fatalf("%s: %v", p.ApplyTo, err)
		}
	}
	if err := cluster.ValidateAll(); err != nil {
		t.Error(err)
	}
	for _, options := range cluster.GetTypedExtensionProtocolOptions() {
		validated[*optionsv3.HttpProtocolOptions](t, options)
	}
	if err := filter.ValidateAll(); err != nil {
		t.Error(err)
	}
	limit := validated[*limitv3.RateLimit](t, filter.GetTypedConfig())
	if got := limit.GetRateLimitService().GetGrpcService().GetEnvoyGrpc().GetClusterName(); got != cluster.GetName() || got == "" {
		t.Errorf("it asks the cluster %q, and there is %q", got, cluster.GetName())
	}
	forgets := validated[*mutationv3.HeaderMutation](t, forget.GetTypedConfig()).GetMutations().GetRequestMutations()
	request := &rlsv3.RateLimitRequest{Domain: limit.GetDomain()}
	for _, l := range host.GetRateLimits() {
		if err := l.ValidateAll(); err != nil {
			t.Error(err)
		}
		key := maskedAddress(l.GetActions()[0])
		if h := l.GetActions()[0].GetRequestHeaders(); h != nil {
			key = h.GetDescriptorKey()
			if !slices.ContainsFunc(forgets, func(m *rulesv3.HeaderMutation) bool { return m.GetRemove() == h.GetHeaderName() }) {
				t.Errorf("a client's own %s is believed", h.GetHeaderName())
			}
		} else if key == "" {
			t.Errorf("%v has an allowance for every address of a /64", l)
		}
		request.Descriptors = append(request.Descriptors, &descriptorv3.RateLimitDescriptor{
			Entries: []*descriptorv3.RateLimitDescriptor_Entry{{Key: key, Value: "v"}},
		})
	}
	path := filepath.Join(t.TempDir(), "policies.yaml")
	write(t, path, commented(t)[0])
	w := serve(t, "--config", path)
	out, err := rlsv3.NewRateLimitServiceClient(dial(t, w.grpc)).ShouldRateLimit(context.Background(), request)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.GetStatuses()) != 2 {
		t.Fatalf("%v", out)
	}
	for i, s := range out.GetStatuses() {
		if s.GetCurrentLimit() == nil {
			t.Errorf("%v is not limited", request.GetDescriptors()[i])
		}
	}
}
