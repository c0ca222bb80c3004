package obs

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
)

// TestFollowedFiles: what is followed is stale while it is wrong.
func TestFollowedFiles(t *testing.T) {
	m := New(Options{})
	m.Followed("salts", true)
	m.Followed("identity", false)
	m.Followed("identity", true)
	m.Followed("salts", false)
	s := scrape(t, m)
	for name, want := range map[string]float64{`weir_file_stale{what="salts"}`: 1, `weir_file_stale{what="identity"}`: 0} {
		if got, ok := s[name]; !ok || got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

func TestReloads(t *testing.T) {
	now := time.Unix(1_700_000_000, 250_000_000)
	m := New(Options{Now: func() time.Time { return now }})
	got := scrape(t, m)
	got.want(t, samples{`weir_config_reloads_total{result="success"}`: 0, "weir_config_serial": 0})
	for _, name := range []string{"weir_config_info", "weir_config_last_reload_successful", "weir_config_last_reload_timestamp_seconds", "weir_config_stale_files"} {
		if len(got.of(name)) != 0 {
			t.Errorf("%s before anything was loaded", name)
		}
	}
	m.Reloaded(Reload{OK: true, Problems: 1, Took: 30 * time.Millisecond})
	now = now.Add(time.Minute)
	m.Reloaded(Reload{Problems: 4, StaleFiles: 2, Took: 40 * time.Millisecond})
	scrape(t, m).want(t, samples{
		`weir_config_reloads_total{result="success"}`: 1,
		`weir_config_reloads_total{result="failure"}`: 1,
		"weir_config_last_reload_successful":          0,
		"weir_config_last_reload_timestamp_seconds":   1_700_000_060.25,
		"weir_config_last_success_timestamp_seconds":  1_700_000_000.25,
		"weir_config_last_reload_duration_seconds":    0.04,
		"weir_config_problems":                        4,
		"weir_config_stale_files":                     2,
	})
}

func TestCertificateEnds(t *testing.T) {
	m := New(Options{})
	if n := len(scrape(t, m).of("weir_tls_certificate_expiry_timestamp_seconds")); n != 0 {
		t.Errorf("%d listeners without TLS have a certificate", n)
	}
	m.CertificateEnds("grpc", time.Unix(1_700_000_000, 0))
	m.CertificateEnds("admin", time.Unix(1_800_000_000, 0))
	m.CertificateEnds("grpc", time.Unix(1_900_000_000, 0))
	scrape(t, m).want(t, samples{
		`weir_tls_certificate_expiry_timestamp_seconds{listener="grpc"}`:  1_900_000_000,
		`weir_tls_certificate_expiry_timestamp_seconds{listener="admin"}`: 1_800_000_000,
	})
}

func TestStatsAreLines(t *testing.T) {
	m := New(Options{})
	m.SetLoaded(1, "v1", []RuleInfo{{"api", "a\nb: 7"}})
	decide(m, 15_000, weir.Decision{Verdict: weir.Deny, SetSerial: 1})
	var out bytes.Buffer
	if err := m.Stats(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for _, want := range []string{
		`weir_decisions_total{domain="api",outcome="deny",rule="a\nb: 7",source="store",version="v1"}: 15000`,
		`weir_check_duration_seconds_count{source="store"}: 15000`,
		`weir_check_duration_seconds_sum{source="store"}: 4.5`,
		`weir_panics_total: 0`,
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("%s is not among the %d lines", want, len(lines))
		}
	}
	if !slices.IsSorted(lines) {
		t.Error("the lines are not sorted")
	}
	if err := m.Stats(failing{}); err == nil {
		t.Error("a writer's error was swallowed")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFailing }

var errFailing = &weir.Error{Message: "full"}
