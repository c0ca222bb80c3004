package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestFirstMinute is what somebody does who has never seen Weir: start it, copy
// the line it prints, repeat it.
func TestFirstMinute(t *testing.T) {
	t.Parallel()
	checkMakeRun(t)
	w := serve(t)
	line := printedCurl(t, w)
	began := time.Now()
	for range 10 {
		resp, body := runCurl(t, line)
		switch resp.StatusCode {
		case http.StatusOK:
			checkFields(t, resp.Header)
			continue
		case http.StatusTooManyRequests:
			checkFields(t, resp.Header)
			checkDenial(t, resp.Header, body)
		default:
			t.Fatalf("%s: %s\n%s", line, resp.Status, body)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("the first 429 came after %v", took)
		}
		return
	}
	t.Fatal("ten requests passed a limit of 5 a minute")
}

// checkMakeRun checks that make run is the command under test.
func checkMakeRun(t *testing.T) {
	t.Helper()
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^run:.*\n\t\$\(GO\) run \./cmd/weir serve$`).Match(makefile) {
		t.Error("make run is not weir serve without arguments")
	}
}

// printedCurl returns the line that a server prints for the terminal.
func printedCurl(t *testing.T, w *instance) string {
	t.Helper()
	var line string
	await(t, "the line to try", func() error {
		for l := range strings.Lines(w.out.String()) {
			if l = strings.TrimSpace(l); strings.HasPrefix(l, "curl ") {
				line = l
				return nil
			}
		}
		return w.out.has("curl ")()
	})
	return line
}

// runCurl runs the line in a shell, or asks what it asks where there is no curl.
func runCurl(t *testing.T, line string) (*http.Response, []byte) {
	t.Helper()
	var raw io.Reader
	if _, err := exec.LookPath("curl"); err == nil {
		out, err := exec.Command("sh", "-c", line).Output()
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		raw = bytes.NewReader(out)
		resp, err := http.ReadResponse(bufio.NewReader(raw), nil)
		if err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		return withBody(t, resp)
	}
	m := regexp.MustCompile(`^curl -i (\S+) -d '(.*)'$`).FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("not a line this test understands: %s", line)
	}
	// What curl sends with -d.
	resp, err := plain.Post(m[1], "application/x-www-form-urlencoded", strings.NewReader(m[2]))
	if err != nil {
		t.Fatal(err)
	}
	return withBody(t, resp)
}

func withBody(t *testing.T, resp *http.Response) (*http.Response, []byte) {
	t.Helper()
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, body
}

// checkFields checks both families of fields of an answer about 5/m.
func checkFields(t *testing.T, h http.Header) {
	t.Helper()
	for name, want := range map[string]string{
		"RateLimit":             `^"per-tenant";r=[0-4];t=\d+$`,
		"RateLimit-Policy":      `^"per-tenant";q=5;w=60$`,
		"X-RateLimit-Limit":     `^5$`,
		"X-RateLimit-Remaining": `^[0-4]$`,
		"X-RateLimit-Reset":     `^\d+$`,
		"X-RateLimit-Policy":    `^per-tenant$`,
		"X-RateLimit-Scope":     `^tenant$`,
	} {
		if got := h.Get(name); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s: %q, want %s", name, got, want)
		}
	}
	reset, _ := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	if in := time.Until(time.Unix(reset, 0)); in < -5*time.Second || in > 62*time.Second {
		t.Errorf("X-RateLimit-Reset is in %v, of a window of a minute", in)
	}
}

// checkDenial checks what only a denial has.
func checkDenial(t *testing.T, h http.Header, body []byte) {
	t.Helper()
	wait, err := strconv.Atoi(h.Get("Retry-After"))
	// Its base is at most a minute, the jitter as much again.
	if err != nil || wait < 1 || wait > 121 {
		t.Errorf("Retry-After: %q", h.Get("Retry-After"))
	}
	if got := h.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("Content-Type: %q", got)
	}
	var problem struct {
		Type     string
		Title    string
		Status   int
		Detail   string
		Violated []string `json:"violated-policies"`
		Error    struct {
			Code       string
			Message    string
			RetryAfter int `json:"retry_after"`
			Limit      int
			Window     string
			Scope      string
		}
	}
	if err := json.Unmarshal(body, &problem); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	e := &problem.Error
	if problem.Type != "https://iana.org/assignments/http-problem-types#quota-exceeded" || problem.Status != 429 ||
		problem.Title == "" || problem.Detail == "" || len(problem.Violated) != 1 || problem.Violated[0] != "per-tenant" {
		t.Errorf("problem: %s", body)
	}
	if e.Code == "" || e.Message == "" || e.RetryAfter != wait || e.Limit != 5 || e.Window != "1m" || e.Scope != "tenant" {
		t.Errorf("its error: %s, with Retry-After %d", body, wait)
	}
}
