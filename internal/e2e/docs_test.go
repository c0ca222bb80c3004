package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"github.com/weirlimit/weir/internal/fastlane"
	"github.com/weirlimit/weir/internal/redistest"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// row is a row of a table in Markdown, without the quotes of code.
type row []string

// rows returns the rows whose first cell is code, of the table below a heading.
func rows(t *testing.T, path, heading string) []row {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("%s has no %q", path, heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var found []row
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		var r row
		for cell := range strings.SplitSeq(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			r = append(r, strings.ReplaceAll(strings.TrimSpace(cell), "`", ""))
		}
		found = append(found, r)
	}
	if len(found) == 0 {
		t.Fatalf("%s has no table below %q", path, heading)
	}
	return found
}

const migration = "../../docs/migrate-from-envoy-ratelimit.md"

// TestPeerVariables gives a server every variable of the table at once, against
// a Redis that wants all of TLS and a password, and reads from its log which it
// has used and which have no effect, and why.
func TestPeerVariables(t *testing.T) {
	t.Parallel()
	onEachEngine(t, testPeerVariables)
}

func testPeerVariables(t *testing.T) {
	redis := redistest.Start(t, redistest.WithTLS(), redistest.WithPassword("secret"))
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "sub", "app"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "sub", "app", "a.yaml"), fmt.Sprintf(closedPolicy, 33, "closed"))
	certs := redis.Certs()
	values := map[string]string{
		"RUNTIME_ROOT": root, "RUNTIME_SUBDIRECTORY": "sub", "RUNTIME_APPDIRECTORY": "app",
		"REDIS_TYPE": "SINGLE", "REDIS_URL": redis.Addr(), "REDIS_AUTH": "secret", "REDIS_TLS": "true",
		"REDIS_TLS_CACERT": certs.CAFile, "REDIS_TLS_CLIENT_CERT": certs.ClientCertFile, "REDIS_TLS_CLIENT_KEY": certs.ClientKeyFile,
		"LOG_LEVEL": "WARNING", "LOG_FORMAT": "TEXT", "SHADOW_MODE": "false",
		"GRPC_SERVER_USE_TLS": "true", "GRPC_SERVER_TLS_CERT": certs.ServerCertFile, "GRPC_SERVER_TLS_KEY": certs.ServerKeyFile,
		"GRPC_CLIENT_TLS_CACERT": certs.CAFile, "GRPC_CLIENT_TLS_SAN": "redistest.client",
	}
	w := newInstance(t, "--deadline", "5s", "--log-level", "info")
	var used, ignored []string
	reasons := map[string]string{}
	for _, r := range rows(t, migration, "Variables") {
		name, here := r[0], r[1]
		value := values[name]
		if value == "" {
			value = "1"
		}
		w.env = append(w.env, name+"="+value)
		switch here {
		case "honoured":
			used = append(used, name)
		case "no effect":
			ignored, reasons[name] = append(ignored, name), r[2]
		default:
			t.Errorf("%s is %q", name, here)
		}
	}
	checkSource(t, append(used, ignored...))
	w.start()
	w.awaitReady()
	conn, err := grpc.NewClient(w.grpc, grpc.WithTransportCredentials(credentials.NewTLS(certs.ClientConfig())))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	w.awaitLimitOver(conn, "33/h")
	log := w.err.String()
	slices.Sort(used)
	if want := fmt.Sprintf("names=%q", fmt.Sprint(used)); !strings.Contains(log, want) {
		t.Errorf("not in the log: %s\n%s", want, log)
	}
	for _, name := range ignored {
		if want := fmt.Sprintf("name=%s because=%q", name, reasons[name]); !strings.Contains(log, want) {
			t.Errorf("not in the log: %s", want)
		}
	}
	if strings.Contains(log, "secret") {
		t.Error("the log tells the password")
	}
}

// checkSource checks that the table misses no variable that the program names.
func checkSource(t *testing.T, names []string) {
	t.Helper()
	files, err := filepath.Glob("../../cmd/weir/peer_*.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range regexp.MustCompile(`"([A-Z]+(_[A-Z]+)*)"`).FindAllStringSubmatch(string(source), -1) {
			seen++
			if !slices.Contains(names, m[1]) {
				t.Errorf("%s is in the program and not in %s", m[1], migration)
			}
		}
	}
	if seen < len(names) {
		t.Errorf("%d of %d variables seen: the test looks in the wrong place", seen, len(names))
	}
}

const serverDoc = "../../docs/server.md"

// TestDocumentedFlags: the table of flags is what serve --help says.
func TestDocumentedFlags(t *testing.T) {
	t.Parallel()
	help, err := exec.Command(binary, "serve", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^ +--([a-z-]+) .*\[(WEIR_[A-Z_]+)\]`).FindAllStringSubmatch(string(help), -1) {
		want["--"+m[1]] = m[2]
	}
	for _, r := range rows(t, serverDoc, "Flags") {
		if want[r[0]] != r[1] {
			t.Errorf("%s has the variable %q, documented is %q", r[0], want[r[0]], r[1])
		}
		delete(want, r[0])
	}
	if len(want) > 0 {
		t.Errorf("not documented: %v", want)
	}
}

// TestDocumentedClient: the settings that survive the rolling restarts are those
// that clients are told to use.
func TestDocumentedClient(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(serverDoc)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "```json\n"+clientConfig+"\n```") {
		t.Errorf("%s shows other settings than\n%s", serverDoc, clientConfig)
	}
}

// TestDocumentedMetrics: the table of metrics is what /metrics has, once there
// is something of everything to count.
func TestDocumentedMetrics(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	path := filepath.Join(t.TempDir(), "policies.yaml")
	write(t, path, fmt.Sprintf(closedPolicy, 1000, "open"))
	salts := filepath.Join(t.TempDir(), "salts.yaml") // a file that is followed
	runWeir(t, "salt", "new", salts)
	w := serve(t, "--config", path, "--redis", redis.Addr(), "--deadline", "100ms", "--salt-file", salts,
		"--grpc-engine", "fast")
	conn := dial(t, w.grpc)
	ask(t, conn)
	w.auth("", "X-Forwarded-For", "no address")
	redis.Stop()
	await(t, "an answer without Redis", func() error {
		ask(t, conn)
		if w.metrics()["weir_store_errors_total"] == nil || w.metrics()["weir_degraded_total"] == nil {
			return fmt.Errorf("no error is counted")
		}
		return nil
	})
	documented := map[string]string{}
	for _, r := range rows(t, serverDoc, "Metrics") {
		documented[r[0]] = r[1] + " " + r[2]
	}
	for name, family := range w.metrics() {
		if !strings.HasPrefix(name, "weir_") {
			continue
		}
		if got, want := documented[name], strings.ToLower(family.GetType().String())+" "+labels(family); got != want {
			t.Errorf("%s is %q, documented is %q", name, want, got)
		}
		delete(documented, name)
	}
	delete(documented, "weir_store_script_seconds")                     // only where the store measures it
	delete(documented, "weir_tls_certificate_expiry_timestamp_seconds") // only with TLS
	if len(documented) > 0 {
		t.Errorf("documented and not there: %v", documented)
	}
}

// labels are the names of a family's labels, in order.
func labels(f *dto.MetricFamily) string {
	var names []string
	for _, l := range f.GetMetric()[0].GetLabel() {
		names = append(names, l.GetName())
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// TestDocumentedPages: the endpoints of the admin listener are what its index
// lists, and each is there.
func TestDocumentedPages(t *testing.T) {
	t.Parallel()
	w := serve(t)
	index := w.page("/")
	var documented []string
	for _, r := range rows(t, serverDoc, "Admin listener") {
		documented = append(documented, r[0])
	}
	for line := range strings.Lines(index) {
		if path, _, _ := strings.Cut(line, ":"); !slices.Contains(documented, path) {
			t.Errorf("%s is not documented", path)
		}
	}
	for _, path := range documented {
		// Those that take a time are refused a wrong one at once.
		if status, _, err := w.get(path + "?seconds=x"); err != nil || status != 200 && status != 400 {
			t.Errorf("%s: %d %v", path, status, err)
		}
	}
}

// TestDocumentedReasons: the table of reasons has all there are, and no other.
func TestDocumentedReasons(t *testing.T) {
	t.Parallel()
	told := map[string]bool{}
	for _, r := range rows(t, "../../docs/server.md", "The gRPC listener") {
		told[r[0]] = true
	}
	for _, r := range fastlane.Reasons() {
		if !told[r.String()] {
			t.Errorf("%s is not told", r)
		}
		delete(told, r.String())
	}
	delete(told, "reason")
	if len(told) > 0 {
		t.Errorf("there is no %v", told)
	}
}
