package shed

import (
	"slices"
	"strings"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/admission"
)

// MaxRoutes bounds Rules.Routes: they are tried one by one.
const MaxRoutes = 256

// health are the paths that are exempt unless Rules.Exempt says otherwise: who
// asks whether a service lives must not be told that it is busy, or the busiest
// are restarted first.
var health = []string{"/healthz", "/livez", "/readyz", "/grpc.health.v1.Health/*"}

// Rules are what a Classifier goes by. The zero value goes by the method.
type Rules struct {
	// Routes are tried in order; the first that matches gives the priority.
	Routes []Route
	// Header is a header field, or a metadata key of gRPC, that lowers a priority:
	// clients may say that they matter less. Empty for none.
	Header string
	// TrustHeader has the header raise a priority too. Only behind a gateway that
	// sets the field itself, whatever the client sent: whoever may call itself
	// critical will.
	TrustHeader bool
	// Exempt are paths that are never shed, with GET or HEAD, and all methods of
	// gRPC; one that ends in * stands for all that begin like it. nil is /healthz,
	// /livez, /readyz and gRPC's health service; an empty list is none.
	Exempt []string
}

// Route gives a priority to requests.
type Route struct {
	// Pattern is POST /v1/charges, GET|HEAD /v1/*, /v1/* for any method, or a
	// gRPC method such as /shop.v1.Orders/Place. One that ends in * stands for all
	// that begin like it. It is tried on the path and on the router's own pattern.
	// A path that not everybody reads alike, such as /v1/charges/../search,
	// matches none.
	Pattern  string
	Priority Priority
}

// Classifier tells what a request matters. Make one with NewClassifier; nil goes
// by the method.
type Classifier struct {
	routes  []route
	header  string
	trusted bool
	exempt  []string
}

type route struct {
	methods  []string // none: any
	paths    []string // of one
	priority Priority
}

// NewClassifier returns a classifier, or what is wrong with the rules.
func NewClassifier(r Rules) (*Classifier, error) {
	c := &Classifier{header: r.Header, trusted: r.TrustHeader, exempt: slices.Clone(r.Exempt)}
	if r.Exempt == nil {
		c.exempt = health
	}
	switch {
	case len(r.Routes) > MaxRoutes:
		return nil, invalid("routes", "are more than 256", "use patterns")
	case r.TrustHeader && r.Header == "":
		return nil, invalid("header", "is missing, and is to be trusted", "name the field that the gateway sets")
	}
	for _, given := range r.Routes {
		rt, err := parseRoute(given)
		if err != nil {
			return nil, err
		}
		c.routes = append(c.routes, rt)
	}
	for _, path := range c.exempt {
		if !isPath(path) {
			return nil, invalid("exempt", "has "+path+", which is not a path", "for example /healthz")
		}
	}
	return c, nil
}

func parseRoute(r Route) (route, error) {
	method, path, ok := strings.Cut(strings.TrimSpace(r.Pattern), " ")
	if !ok {
		method, path = "", method
	}
	path = strings.TrimLeft(path, " ")
	rt := route{paths: []string{path}, priority: r.Priority}
	if method != "" {
		rt.methods = strings.Split(strings.ToUpper(method), "|")
	}
	if !isPath(path) || slices.ContainsFunc(rt.methods, func(m string) bool {
		return m == "" || strings.Trim(m, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != ""
	}) {
		return rt, invalid("routes", "has "+r.Pattern+", which is not a route", "for example POST /v1/charges or /v1/search*")
	}
	if r.Priority < Test || r.Priority > Critical {
		return rt, invalid("routes", "gives "+r.Pattern+" a priority that there is not", "shed.Test, Read, Write or Critical")
	}
	return rt, nil
}

// isPath: with a * at its end only.
func isPath(text string) bool {
	return strings.HasPrefix(text, "/") && !strings.ContainsAny(strings.TrimSuffix(text, "*"), "*? \t")
}

// Header returns the field that Request.Header is to be taken from; empty for
// none.
func (c *Classifier) Header() string {
	if c == nil {
		return ""
	}
	return c.header
}

// Request is what a Classifier looks at.
type Request struct {
	Method string   // of HTTP; empty for gRPC
	Path   string   // or gRPC's full method; empty when not everybody reads it alike
	Route  string   // the router's pattern, such as POST /v1/charges/{id}; may be empty
	Header []string // the values of Classifier.Header
}

// Exempt tells whether a request is never shed. Nothing that changes something
// is a health check.
func (c *Classifier) Exempt(r *Request) bool {
	if r.Method != "" && r.Method != "GET" && r.Method != "HEAD" {
		return false
	}
	if c == nil {
		return admission.Matches(health, r.Path)
	}
	return admission.Matches(c.exempt, r.Path)
}

// Classify returns the priority of a request.
func (c *Classifier) Classify(r *Request) Priority {
	p := weir.MethodPriority(r.Method)
	if c == nil {
		return p
	}
	_, pattern, ok := strings.Cut(r.Route, " ")
	if !ok {
		pattern = r.Route
	}
	for i := range c.routes {
		if c.routes[i].match(r, pattern) {
			p = c.routes[i].priority
			break
		}
	}
	return c.heed(p, r.Header)
}

func (rt *route) match(r *Request, pattern string) bool {
	if len(rt.methods) > 0 && !slices.Contains(rt.methods, r.Method) {
		return false
	}
	return admission.Matches(rt.paths, r.Path) || pattern != "" && admission.Matches(rt.paths, pattern)
}

// heed is p with what the header says. Of several values the lowest counts: where
// a gateway adds its own to the client's, the client does not win.
func (c *Classifier) heed(p Priority, values []string) Priority {
	said, ok := Critical, false
	for _, v := range values {
		if q, known := weir.ParsePriority(strings.TrimSpace(v)); known {
			said, ok = min(said, q), true
		}
	}
	if !ok {
		return p
	}
	if c.trusted {
		return said
	}
	return min(p, said)
}
