package forwardauth

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/identity"
	"github.com/weirlimit/weir/internal/httperr"
	"github.com/weirlimit/weir/internal/respond"
)

// Settings say who may ask and how. They are not changed once they are in use.
type Settings struct {
	Resolver *identity.Resolver
	Headers  Headers
}

// Options configure a Handler.
type Options struct {
	Checker weir.Checker
	// Settings returns those in force; it is called once a request.
	Settings func() *Settings
	// Rejected is called for a peer that may not ask; nil for nobody.
	Rejected func(identity.What, identity.Reason)
}

// Handler serves /v1/auth. Make one with New.
type Handler struct {
	o       Options
	scratch sync.Pool
}

var _ http.Handler = (*Handler)(nil)

// New returns a handler.
func New(o Options) *Handler {
	if o.Rejected == nil {
		o.Rejected = func(identity.What, identity.Reason) {}
	}
	h := &Handler{o: o}
	h.scratch.New = func() any {
		x := new(exchange)
		x.req.Descriptors = x.one[:]
		return x
	}
	return h
}

// exchange is the memory of one question.
type exchange struct {
	req    weir.Request
	one    [1]weir.Descriptor
	pairs  []weir.Pair
	dec    weir.Decision
	fields respond.Fields
	body   []byte
}

// statusField tells that an answer is a decision, and the status that it really
// has to gateways that can only be told another. It is there on admissions too:
// a gateway that was led to ask elsewhere gets a 200 without it.
const statusField = "X-Weir-Status"

// admitted is its value on every admission; it is shared and not changed.
var admitted = []string{"200"}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	s := h.o.Settings()
	if !s.Resolver.Trusts(r) {
		h.o.Rejected(identity.Peer, identity.Untrusted)
		httperr.Send(w, http.StatusBadRequest, httperr.Problem{
			Code: "untrusted_peer", Message: "only a trusted peer may ask here, and " + peerText(r) + " is none",
			Hint: "add the gateway's address to trusted_peers in the file that --identity names",
		})
		return
	}
	q, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		httperr.Write(w, err)
		return
	}
	x := h.scratch.Get().(*exchange)
	defer h.release(x)
	if err := x.ask(s, r, q); err != nil {
		if why, ok := errors.AsType[*identity.Rejection](err); ok {
			rejected(w, why)
			return
		}
		httperr.Write(w, err)
		return
	}
	if err := h.o.Checker.Check(r.Context(), &x.req, &x.dec); err != nil {
		httperr.Write(w, err)
		return
	}
	x.answer(w, q.deny)
}

// ask translates a question.
func (x *exchange) ask(s *Settings, r *http.Request, q query) error {
	var err error
	if x.pairs, err = s.Resolver.Dimensions(r, x.pairs[:0]); err != nil {
		return err
	}
	if x.pairs, err = s.Headers.dimensions(r.Header, x.pairs); err != nil {
		return err
	}
	if x.req.ID, err = s.Headers.requestID(r.Header); err != nil {
		return err
	}
	x.req.Domain, x.req.Policy, x.req.Cost = q.domain, q.policy, 1
	x.one[0] = weir.Descriptor{Pairs: x.pairs, Cost: q.cost, HasCost: q.hasCost}
	return nil
}

// answer writes a decision. A denial has the status that was asked for.
func (x *exchange) answer(w http.ResponseWriter, deny int) {
	a := respond.To(&x.dec, weir.MicrosAt(time.Now()), rand.Int64N)
	x.fields.Fill(&a)
	x.fields.Set(w.Header())
	if x.dec.Allowed() {
		w.Header()[statusField] = admitted
		w.WriteHeader(http.StatusOK)
		return
	}
	status := a.Status()
	w.Header().Set(statusField, strconv.Itoa(status))
	w.Header().Set("Content-Type", respond.ProblemType)
	if deny != 0 && x.dec.Verdict == weir.Deny {
		status = deny
	}
	w.WriteHeader(status)
	x.body = append(a.AppendProblem(x.body[:0]), '\n')
	_, _ = w.Write(x.body)
}

// release keeps memory for another question, and none of this one's values.
func (h *Handler) release(x *exchange) {
	clear(x.pairs[:cap(x.pairs)])
	x.one[0], x.req.ID = weir.Descriptor{}, ""
	h.scratch.Put(x)
}

func peerText(r *http.Request) string {
	if a := identity.PeerAddr(r.RemoteAddr); a.IsValid() {
		return a.String()
	}
	return "this one"
}
