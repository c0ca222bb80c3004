package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// benchPolicies limit what weir bench makes up, over every API.
const benchPolicies = `
domain: bench
policies:
  - {id: k1, by: k1, match: {k1: "*"}, limits: 1000000/h, on_failure: open}
  - {id: k2, by: k2, match: {k2: "*"}, limits: 1000000/h, on_failure: open}
`

// benched is what weir bench -o json prints: all of it, or decoding fails.
type benched struct {
	API, Addr, Loop      string
	Rate, Callers, Conns int
	TLS                  bool
	Warmup               float64 `json:"warmup_s"`
	Duration             float64 `json:"duration_s"`
	Decided              uint64
	Allowed              uint64
	Denied               uint64
	Failed               map[string]uint64
	Details              map[string]string `json:"failure_details"`
	Gone                 bool              `json:"server_gone"`
	PerSecond            float64           `json:"decisions_per_s"`
	Latency              struct {
		Mean, P50, P90, P99, Max float64
		P999                     float64 `json:"p99_9"`
		P9999                    float64 `json:"p99_99"`
	} `json:"latency_us"`
	CPU []struct {
		Name       string
		PID        int
		Used       float64 `json:"used_ms"`
		PerRequest float64 `json:"us_per_request"`
	}
	Recorded int
}

// runBench runs weir bench with -o json.
func runBench(t *testing.T, args ...string) (b benched, code int, stderr string) {
	t.Helper()
	cmd := exec.Command(binary, append([]string{"bench", "-o", "json", "--warmup", "0s", "--duration", "30s", "--timeout", "20s"}, args...)...)
	cmd.Env = []string{"HOME=" + t.TempDir()}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(&out)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&b); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, errs.String())
	}
	return b, cmd.ProcessState.ExitCode(), errs.String()
}

// TestBench asks over every API, in both loops, one descriptor and two, to be
// allowed and to be denied.
func TestBench(t *testing.T) { onEachEngine(t, testBench) }

func testBench(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "bench.yaml")
	if err := os.WriteFile(file, []byte(benchPolicies), 0o600); err != nil {
		t.Fatal(err)
	}
	w := serve(t, "--config", file)
	addrs := map[string]string{"rls": w.grpc, "native": w.grpc, "stream": w.grpc, "http": w.http}
	for api, addr := range addrs {
		for _, loop := range []string{"closed", "open"} {
			for _, want := range []string{"allow", "deny"} {
				t.Run(api+"/"+loop+"/"+want, func(t *testing.T) {
					args := []string{
						"--api", api, "--addr", addr, "--requests", "200", "--callers", "8", "--descriptors", "2",
						"--expect", want, "--pid", fmt.Sprintf("server=%d", w.cmd.Process.Pid),
					}
					if loop == "open" {
						args = append(args, "--rate", "1000", "--callers", "100")
					}
					if want == "deny" {
						args = append(args, "--hits", "1000001") // more than there ever is
					}
					b, code, errs := runBench(t, args...)
					if code != 0 || b.Decided != 200 || len(b.Failed) != 0 || b.API != api || b.Loop != loop || b.Addr != addr {
						t.Fatalf("exit code %d, %+v\n%s", code, b, errs)
					}
					if (want == "deny") != (b.Denied == 200) || b.Allowed+b.Denied != 200 {
						t.Errorf("%+v", b)
					}
					l := &b.Latency
					if order := []float64{0, l.P50, l.P90, l.P99, l.P999, l.P9999, l.Max}; !slices.IsSorted(order) || l.P50 <= 0 || l.Mean <= 0 {
						t.Errorf("latencies %+v", l)
					}
					if len(b.CPU) != 2 || b.CPU[0].Name != "server" || b.CPU[0].PID != w.cmd.Process.Pid || b.CPU[1].Name != "bench" {
						t.Errorf("processes %+v", b.CPU)
					}
				})
			}
		}
	}
}

// TestBenchReplays: what was recorded is sent again, over any API, and recorded
// the same; and the server has counted each request of it.
func TestBenchReplays(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "bench.yaml")
	// 40 a key: how many are denied depends on the keys, and on nothing else.
	limits := strings.ReplaceAll(benchPolicies, "1000000/h", "40/d")
	if err := os.WriteFile(file, []byte(limits), 0o600); err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "list.txt")
	zipf := []string{"--dist", "zipf", "--keys", "50", "--seed", "7", "--descriptors", "2"}
	first := serve(t, "--config", file)
	a, _, errs := runBench(t, append(zipf, "--addr", first.grpc, "--requests", "1000", "--record", list)...)
	if a.Decided != 1000 || a.Recorded != 1000 || a.Denied == 0 || a.Allowed == 0 {
		t.Fatalf("%+v\n%s", a, errs)
	}
	for _, api := range []string{"rls", "native", "stream"} {
		second := serve(t, "--config", file)
		again := filepath.Join(dir, api+".txt")
		b, _, errs := runBench(t, "--addr", second.grpc, "--api", api, "--requests", "1000", "--from", list, "--record", again)
		if b.Allowed != a.Allowed || b.Denied != a.Denied {
			t.Errorf("%s: %d allowed, %d denied; the first time %d and %d\n%s", api, b.Allowed, b.Denied, a.Allowed, a.Denied, errs)
		}
		if x, y := readFile(t, list), readFile(t, again); !reflect.DeepEqual(x, y) {
			t.Errorf("%s: what was sent again differs", api)
		}
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBenchExpects: a decision that was not expected is an error, after the
// result.
func TestBenchExpects(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bench.yaml")
	if err := os.WriteFile(file, []byte(benchPolicies), 0o600); err != nil {
		t.Fatal(err)
	}
	w := serve(t, "--config", file)
	b, code, errs := runBench(t, "--addr", w.grpc, "--requests", "100", "--expect", "deny")
	if code != 1 || b.Allowed != 100 || !strings.Contains(errs, "--expect deny: 100 of 100 were allowed") {
		t.Errorf("exit code %d, %+v, %s", code, b, errs)
	}
	b, code, errs = runBench(t, "--addr", w.http, "--requests", "10", "--timeout", "200ms", "--duration", "2s")
	if code != 1 || b.Decided != 0 || !strings.Contains(errs, "nothing was decided") || len(b.Failed) == 0 {
		t.Errorf("of a server of HTTP/1.1: exit code %d, %+v, %s", code, b, errs)
	}
}

// TestBenchOfServerThatEnds: a server that ends in the middle is an error, also
// in a closed loop, which then asks nobody and so sees few failures.
func TestBenchOfServerThatEnds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bench.yaml")
	if err := os.WriteFile(file, []byte(benchPolicies), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, loop := range []string{"0", "500"} {
		w := serve(t, "--config", file)
		killed := make(chan error, 1)
		time.AfterFunc(time.Second, func() { killed <- w.cmd.Process.Kill() })
		b, code, errs := runBench(t, "--addr", w.grpc, "--rate", loop, "--callers", "8", "--duration", "2s", "--timeout", "300ms", "-q")
		if err := <-killed; err != nil {
			t.Error(err)
		}
		if code != 1 || !b.Gone || b.Decided == 0 || len(b.Failed) == 0 || !strings.Contains(errs, "did not answer any more") {
			t.Errorf("rate %s: exit code %d, %+v\n%s", loop, code, b, errs)
		}
	}
}
