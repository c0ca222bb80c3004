package gatewaytest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// traefikStatic and traefikDynamic are what Traefik documents of its files, as
// far as the examples use it. Fields that are not here are errors.
type (
	traefikStatic struct {
		EntryPoints map[string]struct {
			Address          string `yaml:"address"`
			ForwardedHeaders struct {
				TrustedIPs []string `yaml:"trustedIPs"`
				Insecure   bool     `yaml:"insecure"`
			} `yaml:"forwardedHeaders"`
		} `yaml:"entryPoints"`
		Providers struct {
			File struct {
				Filename string `yaml:"filename"`
			} `yaml:"file"`
		} `yaml:"providers"`
		Log struct {
			Level string `yaml:"level"`
		} `yaml:"log"`
	}
	traefikDynamic struct {
		HTTP struct {
			Routers map[string]struct {
				EntryPoints []string `yaml:"entryPoints"`
				Rule        string   `yaml:"rule"`
				Middlewares []string `yaml:"middlewares"`
				Service     string   `yaml:"service"`
			} `yaml:"routers"`
			Middlewares map[string]struct {
				Headers struct {
					CustomRequestHeaders map[string]string `yaml:"customRequestHeaders"`
				} `yaml:"headers"`
				ForwardAuth struct {
					Address             string   `yaml:"address"`
					TrustForwardHeader  bool     `yaml:"trustForwardHeader"`
					AuthRequestHeaders  []string `yaml:"authRequestHeaders"`
					AuthResponseHeaders []string `yaml:"authResponseHeaders"`
					MaxResponseBodySize int      `yaml:"maxResponseBodySize"`
				} `yaml:"forwardAuth"`
			} `yaml:"middlewares"`
			Services map[string]struct {
				LoadBalancer struct {
					Servers []struct {
						URL string `yaml:"url"`
					} `yaml:"servers"`
				} `yaml:"loadBalancer"`
			} `yaml:"services"`
		} `yaml:"http"`
	}
)

func strictly(t *testing.T, name string, into any) {
	t.Helper()
	dec := yaml.NewDecoder(strings.NewReader(Example(t, name)))
	dec.KnownFields(true)
	if err := dec.Decode(into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// TestTraefikExample: the files have no field that Traefik does not document,
// what they name is there, and nothing of the client's but its credentials
// reaches Weir.
func TestTraefikExample(t *testing.T) {
	t.Parallel()
	var static traefikStatic
	strictly(t, "traefik/traefik.yml", &static)
	var dynamic traefikDynamic
	strictly(t, "traefik/dynamic.yml", &dynamic)

	if _, err := os.Stat(filepath.Join(Root(), static.Providers.File.Filename)); err != nil {
		t.Error(err)
	}
	if edge := static.EntryPoints["edge"]; edge.Address != DocumentedGateway || edge.ForwardedHeaders.Insecure || edge.ForwardedHeaders.TrustedIPs != nil {
		t.Errorf("%+v", edge)
	}
	h := dynamic.HTTP
	for name, r := range h.Routers {
		for _, e := range r.EntryPoints {
			if _, ok := static.EntryPoints[e]; !ok {
				t.Errorf("router %s: no entry point %s", name, e)
			}
		}
		for _, m := range r.Middlewares {
			if _, ok := h.Middlewares[m]; !ok {
				t.Errorf("router %s: no middleware %s", name, m)
			}
		}
		if !slices.Equal(r.Middlewares, []string{"no-claims", "weir"}) {
			t.Errorf("router %s asks by %v", name, r.Middlewares)
		}
		if s := h.Services[r.Service].LoadBalancer.Servers; len(s) != 1 || s[0].URL != "http://"+DocumentedBackend {
			t.Errorf("router %s: service %s is %+v", name, r.Service, s)
		}
	}
	ask := h.Middlewares["weir"].ForwardAuth
	if ask.Address != "http://"+DocumentedWeir+"/v1/auth" || ask.TrustForwardHeader ||
		!slices.Equal(ask.AuthRequestHeaders, []string{"Authorization", "X-Api-Key"}) {
		t.Errorf("it asks %+v", ask)
	}
	removed := h.Middlewares["no-claims"].Headers.CustomRequestHeaders
	for _, name := range []string{"X-Tenant", "X-Weir-Tenant", "X-Real-Ip", "Forwarded", "X_Api_Key", "X_Api-Key", "X-Api_Key"} {
		if _, ok := removed[name]; !ok {
			t.Errorf("%s of the client's reaches the backend", name)
		}
	}
	for name, value := range removed {
		if value != "" {
			t.Errorf("%s becomes %q, which is not its removal", name, value)
		}
	}
}
