package admin

import (
	"cmp"
	"io"
	"net/http"
	"slices"
	"strings"
)

// Options says what there is to show. Pages whose source is nil are not there.
type Options struct {
	Health  *Health                 // nil: always ready
	Metrics http.Handler            // /metrics
	Stats   func(w io.Writer) error // /stats
	Rules   func(w io.Writer) error // /rlconfig; weir.CodeNotReady is 503
	Config  func() Config           // /config

	// Pages are those of other packages. They are behind the same guard.
	Pages []Page

	// Hosts are the names by which the listener may be addressed, beside IP
	// addresses and localhost; "*" is any.
	Hosts []string
}

// Page is something to ask for.
type Page struct {
	// Pattern is one of http.ServeMux, with a method: "GET /stats". GET is also
	// HEAD; other methods are answered 405.
	Pattern string
	About   string // one line; empty keeps it off the index
	Handler http.Handler
}

// maxBody bounds what a request may bring, which is next to nothing.
const maxBody = 1 << 20

// New returns the handler. It does not listen. A pattern that is there twice or
// is malformed panics, as http.ServeMux does.
func New(o Options) http.Handler {
	if o.Health == nil {
		o.Health = &Health{}
	}
	pages := o.pages()
	mux := http.NewServeMux()
	for _, p := range pages {
		mux.Handle(p.Pattern, p.Handler)
	}
	mux.Handle("GET /{$}", index(pages))
	return guard(o.Hosts, http.MaxBytesHandler(mux, maxBody))
}

func (o *Options) pages() []Page {
	pages := []Page{
		{"GET /livez", "whether the process lives", http.HandlerFunc(livez)},
		{"GET /readyz", "whether it should be sent requests, and why not", readyz(o.Health)},
		{"GET /healthcheck", "the same as text: OK, or status 500", Healthcheck(o.Health)},
	}
	if o.Metrics != nil {
		pages = append(pages, Page{"GET /metrics", "metrics, for Prometheus", o.Metrics})
	}
	if o.Stats != nil {
		pages = append(pages, Page{"GET /stats", "the same counters as text", document(o.Stats)})
	}
	if o.Rules != nil {
		pages = append(pages, Page{"GET /rlconfig", "the policies in force", document(o.Rules)})
	}
	if o.Config != nil {
		pages = append(pages, Page{"GET /config", "version, files and problems of the configuration", config(o.Config)})
	}
	return append(append(pages, profiles()...), o.Pages...)
}

// index lists the pages, a line each.
func index(pages []Page) http.Handler {
	var lines []string
	for _, p := range pages {
		if p.About == "" {
			continue
		}
		method, path, _ := strings.Cut(p.Pattern, " ")
		line := path + ": " + p.About
		if method != http.MethodGet {
			line += " (" + method + ")"
		}
		lines = append(lines, line)
	}
	slices.SortFunc(lines, cmp.Compare)
	text := strings.Join(lines, "\n") + "\n"
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		plain(w)
		say(w, text)
	})
}

func plain(w http.ResponseWriter) { w.Header().Set("Content-Type", "text/plain; charset=utf-8") }

// say writes to who asked, and may have gone.
func say(w io.Writer, text string) { _, _ = io.WriteString(w, text) }
