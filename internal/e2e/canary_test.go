package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/weirlimit/weir/internal/redistest"
)

// canaries are secrets, and what must never be told of a caller, by what they
// are. Each is long and like nothing else.
type canaries map[string]string

// find fails the test for each canary that is in a text.
func (c canaries) find(t *testing.T, where, text string) {
	t.Helper()
	if text == "" {
		t.Errorf("%s: nothing to look at", where)
	}
	for what, secret := range c {
		if strings.Contains(text, secret) {
			t.Errorf("%s tells the %s", where, what)
		}
	}
}

// told is everything that a server says of itself.
func (w *instance) told(c canaries) {
	w.t.Helper()
	c.find(w.t, "the log", w.err.String())
	for _, page := range []string{
		"/metrics", "/stats", "/hotkeys", "/config", "/rlconfig", "/readyz", "/healthcheck",
		"/debug/pprof/goroutine?debug=2", "/debug/pprof/heap?debug=1", "/debug/pprof/trace?seconds=1",
	} {
		c.find(w.t, page, w.page(page))
	}
	args, err := os.ReadFile("/proc/" + strconv.Itoa(w.cmd.Process.Pid) + "/cmdline")
	if err != nil {
		w.t.Fatal(err)
	}
	c.find(w.t, "the process list", string(args))
}

// post sends a body and returns the whole answer as text.
func (w *instance) post(path, body string, header ...string) string {
	w.t.Helper()
	r, err := http.NewRequest(http.MethodPost, "http://"+w.http+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	resp, err := plain.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	return text(w.t, resp)
}

// text is an answer: its status, fields and body.
func text(t *testing.T, resp *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	var out bytes.Buffer
	fmt.Fprintln(&out, resp.Status)
	if err := resp.Header.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String() + string(body)
}

// TestNoSecretIsTold puts secrets wherever an operator or a caller may put
// them, right and wrong, and looks for them wherever Weir says anything: its log
// at the most talkative level, metrics, errors, pages, traces, printed settings,
// the process list, and the names of the counters.
func TestNoSecretIsTold(t *testing.T) {
	t.Parallel()
	dir, provider := t.TempDir(), newIDP(t)
	path := func(name string) string { return filepath.Join(dir, name) }
	key, entry := newKey(t, "--id", "acme-prod", "--tenant", "acme")
	token := provider.token(t, "EdDSA", map[string]any{"sub": "canary-user-4711"})
	bad := provider.token(t, "none", map[string]any{"sub": "canary-user-4711"}) + "canary-signature"
	c := canaries{
		"Redis password": "canary-redis-password", "wrong Redis password": "canary-wrong-password",
		"API key": key, "part of the API key": strings.TrimPrefix(key, "weir_"),
		"token": token, "signature of a token": token[strings.LastIndexByte(token, '.')+1:], "bad token": bad,
		"secret of tokens": "canary-hmac-secret-that-is-long-enough", "token in a query": "canary-query-token",
		"address": "203.0.113.77", "user": "canary-user-4711",
	}
	redis := redistest.Start(t, redistest.WithPassword(c["Redis password"]))
	write(t, path("password"), c["Redis password"]+"\n")
	write(t, path("policies.yaml"), `
policies:
  - {id: by-ip, by: [ip], limits: [100/h], on_failure: closed}
  - {id: by-user, by: [tenant, user], limits: [2/h], on_failure: closed}
  - {id: by-key, by: [api_key], limits: [100/h, 100/s burst 100], on_failure: closed}
`)
	write(t, path("keys.yaml"), "keys:\n"+entry)
	write(t, path("identity.yaml"), "jwt: {issuer: idp, audience: api, jwks_url: "+provider.url+"/keys, algorithms: [EdDSA], tenant_claim: org}\napi_keys: {file: keys.yaml}\n")
	if out, err := exec.Command(binary, "salt", "new", path("salt.yaml")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	salts, err := os.ReadFile(path("salt.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for i, secret := range secretsIn(string(salts)) {
		c[fmt.Sprintf("salt %d", i)] = secret
	}
	if len(c) < 13 {
		t.Fatalf("%d canaries: the salts were not found in\n%s", len(c), salts)
	}
	args := []string{
		"--config", path("policies.yaml"), "--identity", path("identity.yaml"), "--salt-file", path("salt.yaml"),
		"--redis", redis.Addr(), "--deadline", "1s", "--log-level", "debug",
	}
	w := newInstance(t, args...)
	w.env = []string{"WEIR_REDIS_PASSWORD_FILE=" + path("password")}
	w.start()
	w.awaitReady()

	// Callers, right and wrong.
	from := []string{"X-Forwarded-For", c["address"], "X-Forwarded-Method", "GET", "X-Forwarded-Uri", "/x?access_token=" + c["token in a query"]}
	for _, header := range [][]string{
		{"Authorization", "Bearer " + token},
		{"Authorization", "Bearer " + token},
		{"Authorization", "Bearer " + token},
		{"Authorization", "Bearer " + bad},
		{"Authorization", bad},
		{"Authorization", "ApiKey " + key},
		{"Authorization", key},
		{"X-Api-Key", key},
		{"X-Api-Key", key + "x"},
		{"X-Api-Key", token},
		{"Cookie", "session=" + token},
		{"X-Forwarded-Method", token},
		{"X-Forwarded-Uri", key},
		{"X-Forwarded-For", key},
	} {
		answer := text(t, w.auth("", append(header, from...)...))
		c.find(t, header[0]+" at /v1/auth", answer)
	}
	for _, query := range []string{"?cost=" + key, "?domain=" + key, "?policy=" + key, "?deny=" + key, "?" + key + "=1"} {
		// What a gateway's own configuration says may be told to the gateway.
		text(t, w.auth(query, from...))
	}
	body := fmt.Sprintf(`{"dimensions": {"tenant": "acme", "user": %q, "ip": %q, "api_key": %q}}`, c["user"], c["address"], key)
	for range 3 {
		c.find(t, "/v1/check", w.post("/v1/check", body, "Authorization", "Bearer "+token))
	}
	c.find(t, "/json", w.post("/json", `{"domain": "default", "descriptors": [{"entries": [{"key": "`+key+`", "value": 7}]}]}`))
	if out := runWeir(t, "explain", "--config", path("policies.yaml"), "--salt-file", path("salt.yaml"), "--dimension", "ip="+c["address"]); !strings.Contains(out, "{%~") {
		t.Errorf("explain names no hidden counter:\n%s", out)
	}

	// Redis: what it holds, and what is said when it refuses, is away, and back.
	keys := fmt.Sprint(redis.MustDo("KEYS", "*"))
	for _, rule := range []string{"by-ip", "by-user", "by-key"} { // token, key and address were believed
		if !strings.Contains(keys, rule) {
			t.Fatalf("no counters of %s in %s", rule, keys)
		}
	}
	c.find(t, "Redis's keys", keys)
	write(t, path("password"), c["wrong Redis password"])
	redis.MustDo("CLIENT", "KILL", "TYPE", "normal")
	c.find(t, "an answer without Redis", w.post("/v1/check", body))
	redis.Stop()
	c.find(t, "an answer without Redis", w.post("/v1/check", body))

	// Files that are wrong, with the secrets in the wrong places.
	write(t, path("keys.yaml"), "keys:\n  - {id: a, tenant: b, sha256: "+key+"}\n")
	await(t, "the wrong keys to be told", w.err.has("keys.yaml"))
	write(t, path("salt.yaml"), strings.ReplaceAll(string(salts), "salts:", "salts: nonsense "))
	await(t, "the wrong salts to be told", w.err.has("salt.yaml"))
	w.told(c)

	// Commands and settings.
	write(t, path("settings.yaml"), "redis-password: "+c["Redis password"]+"\n")
	write(t, path("secret"), c["secret of tokens"])
	for _, command := range [][]string{
		append([]string{"config", "print", "--sources"}, args...),
		append([]string{"config", "print", "-o", "yaml"}, args...),
		append([]string{"config", "print", "-o", "json"}, args...),
		{"serve", "--settings", path("settings.yaml")},
		{"serve", "--redis", "redis://user:" + c["Redis password"] + "@127.0.0.1:1"},
		{"config", "print", "--redis", "redis://user:" + c["Redis password"] + "@127.0.0.1:1"},
		{"serve", "--identity", path("secret")},
		{"serve", "--salt-file", path("secret")},
		{"serve", "--config", path("secret") + "x"},
		{"salt", "list", path("salt.yaml")},
		{"salt", "list", path("secret")},
		{"salt", "rotate", path("secret")},
	} {
		cmd := exec.Command(binary, command...)
		cmd.Env = append(w.cmd.Environ(), "WEIR_REDIS_PASSWORD="+c["wrong Redis password"], "REDIS_AUTH="+c["Redis password"])
		out, _ := cmd.CombinedOutput() // most of them fail
		c.find(t, "weir "+strings.Join(command[:2], " "), string(out))
	}
}

// secretsIn are the words of a file of salts that look random.
func secretsIn(text string) []string {
	var out []string
	for _, word := range strings.Fields(text) {
		if len(word) >= 40 {
			out = append(out, word)
		}
	}
	return out
}
