package httplimit_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirlimit/weir/httplimit"
	"github.com/weirlimit/weir/shed"
)

// service is what is protected: its requests say that they are there, and wait
// to be let go.
type service struct {
	*httptest.Server
	inside chan struct{}
	leave  chan struct{}
	letGo  func() // lets all go, now and later
}

func (s *service) ServeHTTP(http.ResponseWriter, *http.Request) {
	s.inside <- struct{}{}
	<-s.leave
}

// protect serves a service behind middleware, on a listener of its own.
func protect(t testing.TB, middleware func(http.Handler) http.Handler) *service {
	t.Helper()
	s := &service{inside: make(chan struct{}, 1000), leave: make(chan struct{})}
	s.letGo = sync.OnceFunc(func() { close(s.leave) })
	s.Server = httptest.NewServer(middleware(s))
	s.Client().Timeout = 20 * time.Second // a test that is wrong must end
	t.Cleanup(func() { s.letGo(); s.Close() })
	return s
}

// answer is what a request was answered.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask makes a request; fields are name, value, name, value.
func (s *service) ask(t testing.TB, method, path string, fields ...string) answer {
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, nil)
	if err != nil {
		t.Error(err)
		return answer{}
	}
	for i := 0; i < len(fields); i += 2 {
		r.Header.Add(fields[i], fields[i+1])
	}
	resp, err := s.Client().Do(r)
	if err != nil {
		t.Error(err)
		return answer{}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return answer{resp.StatusCode, resp.Header, string(body)}
}

// until waits for what other goroutines bring about.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 10 s", what)
		}
	}
}

func shedWorker(t testing.TB, o shed.Options) *shed.Worker {
	t.Helper()
	w, err := shed.NewWorker(o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func payments(t testing.TB) *shed.Classifier {
	t.Helper()
	c, err := shed.NewClassifier(shed.Rules{
		Routes: []shed.Route{{Pattern: "POST /charges", Priority: shed.Critical}},
		Header: "X-Priority",
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestBurst: a slow service under a burst of everything. All that is critical
// passes, what is shed is of the rest, and when it is over all is well.
func TestBurst(t *testing.T) {
	w := shedWorker(t, shed.Options{Places: 4, Waiting: 8, MaxWait: time.Minute, Recovery: 10 * time.Millisecond})
	s := protect(t, httplimit.Shed(w, payments(t)))
	const critical, others = 8, 10 // of each kind
	var mu sync.Mutex
	answers := map[string][]answer{}
	answered := 0
	var all sync.WaitGroup
	send := func(n int, kind, method, path string, fields ...string) {
		for range n {
			all.Go(func() {
				a := s.ask(t, method, path, fields...)
				mu.Lock()
				answers[kind], answered = append(answers[kind], a), answered+1
				mu.Unlock()
			})
		}
	}
	send(others, "test", http.MethodGet, "/list", "X-Priority", "test")
	send(others, "read", http.MethodGet, "/list")
	send(others, "write", http.MethodPost, "/notes")
	send(critical, "critical", http.MethodPost, "/charges")
	until(t, "everything inside, waiting or sent away", func() bool {
		mu.Lock()
		defer mu.Unlock()
		now := w.Stats()
		return now.Inside+now.Waiting+answered == 3*others+critical
	})
	if a := s.ask(t, http.MethodGet, "/healthz-not"); a.status != http.StatusServiceUnavailable {
		t.Errorf("one more read: %d", a.status)
	}
	s.letGo()
	all.Wait()
	passed := map[string]int{}
	for kind, list := range answers {
		for _, a := range list {
			switch a.status {
			case http.StatusOK:
				passed[kind]++
			case http.StatusServiceUnavailable:
				retry := a.header.Get("Retry-After")
				if retry != "1" && retry != "2" || a.header.Get("Content-Type") != "application/problem+json" ||
					!strings.Contains(a.body, "#temporary-reduced-capacity") || !strings.Contains(a.body, `"code":"shed"`) {
					t.Fatalf("%s: %v %s", kind, a.header, a.body)
				}
			default:
				t.Errorf("%s: %d", kind, a.status)
			}
		}
	}
	if passed["critical"] != critical || passed["test"] == others || passed["read"] == others {
		t.Errorf("passed %v", passed)
	}
	shedded := w.Stats().Shed
	if shedded[shed.Critical.Index()] != [shed.Reasons]uint64{} {
		t.Errorf("counted %v", shedded)
	}
	until(t, "recovery", func() bool { return s.ask(t, http.MethodGet, "/list", "X-Priority", "test").status == http.StatusOK })
	if now := w.Stats(); now.Inside != 0 || now.Waiting != 0 || now.Level != 0 {
		t.Errorf("%+v", now)
	}
}

// TestHeaderDoesNotPromote: what calls itself critical is what its route says.
func TestHeaderDoesNotPromote(t *testing.T) {
	w := shedWorker(t, shed.Options{Places: 1, Waiting: 2, MaxWait: time.Minute}) // one read may wait
	s := protect(t, httplimit.Shed(w, payments(t)))
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() { s.ask(t, http.MethodGet, "/list") })
	}
	until(t, "one inside, one waiting", func() bool { now := w.Stats(); return now.Inside == 1 && now.Waiting == 1 })
	if a := s.ask(t, http.MethodGet, "/list", "X-Priority", "critical"); a.status != http.StatusServiceUnavailable {
		t.Errorf("a read that calls itself critical: %d", a.status)
	}
	if a := s.ask(t, http.MethodGet, "/healthz%2f..%2flist", "X-Priority", "critical"); a.status != http.StatusServiceUnavailable {
		t.Errorf("a read that calls itself a health check: %d", a.status)
	}
	all.Go(func() {
		if a := s.ask(t, http.MethodPost, "/charges"); a.status != http.StatusOK {
			t.Errorf("critical: %d", a.status)
		}
	})
	until(t, "the critical one waits", func() bool { return w.Stats().Waiting == 2 })
	healthy := make(chan answer, 1)
	go func() { healthy <- s.ask(t, http.MethodGet, "/healthz") }()
	<-s.inside // the first
	<-s.inside // the health check, past the line
	s.letGo()
	all.Wait()
	if a := <-healthy; a.status != http.StatusOK {
		t.Errorf("health: %d", a.status)
	}
}

func TestShadowShedsNothing(t *testing.T) {
	w := shedWorker(t, shed.Options{Places: 1, Waiting: -1, Shadow: true})
	s := protect(t, httplimit.Shed(w, payments(t)))
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if a := s.ask(t, http.MethodGet, "/list"); a.status != http.StatusOK {
				t.Errorf("%d", a.status)
			}
		})
	}
	for range 5 { // all at once
		<-s.inside
	}
	s.letGo()
	all.Wait()
	if n := w.Stats().Shed[shed.Read.Index()][shed.LineFull]; n != 4 {
		t.Errorf("%d would be shed, want 4", n)
	}
}

func TestShedGivesPlacesBack(t *testing.T) {
	w := shedWorker(t, shed.Options{Places: 1, Waiting: -1})
	panics := httplimit.Shed(w, nil)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("asked to") }))
	for range 2 {
		func() {
			defer func() {
				if p := recover(); p != "asked to" {
					t.Errorf("panic %v", p)
				}
			}()
			get(panics, "/x")
		}()
	}
	if now := w.Stats(); now.Inside != 0 {
		t.Errorf("%+v", now)
	}
	if a := get(httplimit.Shed(nil, nil)(ok), "/x"); a.Code != http.StatusInternalServerError {
		t.Errorf("without a worker: %d", a.Code)
	}
	h := httplimit.Shed(w, payments(t))(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	r, rec := httptest.NewRequest(http.MethodPost, "/charges", nil), httptest.NewRecorder()
	r.Header.Set("X-Priority", "read")
	if n := testing.AllocsPerRun(100, func() { h.ServeHTTP(rec, r) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
