package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/degrade"
	"github.com/weirlimit/weir/internal/httperr"
	"github.com/weirlimit/weir/policy"
)

// The scopes of an order.
const (
	ScopeAll    = "all"
	ScopePolicy = "policy"
)

// SwitchOrder is what POST /switch takes.
type SwitchOrder struct {
	Scope  string `json:"scope"` // all or policy
	Domain string `json:"domain,omitempty"`
	Policy string `json:"policy,omitempty"`
	On     bool   `json:"on"` // false lifts what is forced; for all, everything
	Who    string `json:"who"`
	Why    string `json:"why,omitempty"`
	For    string `json:"for,omitempty"` // such as 30m; 1h when it is not said
}

// SwitchStatus is what /switch answers: what is forced now.
type SwitchStatus struct {
	Forced []SwitchForced `json:"forced"`
}

// SwitchForced is something that is forced.
type SwitchForced struct {
	Scope  string    `json:"scope"`
	Domain string    `json:"domain,omitempty"`
	Policy string    `json:"policy,omitempty"`
	Who    string    `json:"who"`
	Why    string    `json:"why"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"`
}

// SwitchOptions configures SwitchPages. Switch is required.
type SwitchOptions struct {
	Switch *degrade.Switch
	// Known tells whether there is such a policy; nil takes any for one.
	Known func(domain, policy string) bool
	// Told is called for every order that was followed, with what it forced or
	// lifted.
	Told func(order SwitchOrder, changed []degrade.Forced)
}

// SwitchPages are the pages of the switch.
func SwitchPages(o SwitchOptions) []Page {
	return []Page{
		{"GET /switch", "what is forced through, past its limits", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			httperr.JSON(w, http.StatusOK, switchStatus(o.Switch))
		})},
		{"POST /switch", "", http.HandlerFunc(o.order)},
	}
}

// order follows an order. That it is JSON, and says so, keeps the forms of other
// sites out, besides what guard does: a form cannot say it.
func (o *SwitchOptions) order(w http.ResponseWriter, r *http.Request) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		httperr.Send(w, http.StatusUnsupportedMediaType, httperr.Problem{
			Code: weir.CodeInvalid.String(), Field: "content-type", Message: "is not application/json",
		})
		return
	}
	in, err := readOrder(r.Body)
	if err == nil {
		err = o.follow(in)
	}
	if err != nil {
		httperr.Write(w, err)
		return
	}
	httperr.JSON(w, http.StatusOK, switchStatus(o.Switch))
}

// readOrder reads strictly: what is misspelt must not be done otherwise.
func readOrder(body io.Reader) (SwitchOrder, error) {
	var in SwitchOrder
	dec := json.NewDecoder(io.LimitReader(body, maxOrder))
	dec.DisallowUnknownFields()
	err := dec.Decode(&in)
	if err == nil {
		if _, err = dec.Token(); errors.Is(err, io.EOF) {
			return in, nil
		}
		err = errors.New("there is something after it")
	}
	return in, &weir.Error{
		Code: weir.CodeInvalid, Field: "body", Message: "is not an order", Err: err,
		Hint: `for example {"scope": "all", "on": true, "who": "ann", "why": "incident 7", "for": "30m"}`,
	}
}

// maxOrder bounds an order, in bytes.
const maxOrder = 16 << 10

func (o *SwitchOptions) follow(in SwitchOrder) error {
	scope, err := o.scope(&in)
	if err != nil {
		return err
	}
	var changed []degrade.Forced
	if in.On {
		span := time.Duration(0)
		if in.For != "" {
			if span, err = time.ParseDuration(in.For); err != nil || span <= 0 {
				return wrong("for", fmt.Sprintf("%.40q is no span of time", in.For), "for example 30m")
			}
		}
		f, err := o.Switch.Force(scope, in.Who, in.Why, span)
		if err != nil {
			return err
		}
		changed = []degrade.Forced{f}
	} else {
		if err := degrade.CheckWords(in.Who, in.Why); err != nil {
			return err
		}
		changed = o.Switch.Lift(scope)
	}
	if o.Told != nil {
		o.Told(in, changed)
	}
	return nil
}

func (o *SwitchOptions) scope(in *SwitchOrder) (degrade.Scope, error) {
	switch in.Scope {
	case ScopeAll:
		if in.Domain != "" || in.Policy != "" {
			return degrade.Scope{}, wrong("scope", "is all, and a policy is named", "leave the policy out, or say scope policy")
		}
		return degrade.Everything, nil
	case ScopePolicy:
		if in.Domain == "" {
			in.Domain = policy.DefaultDomain
		}
		s := degrade.Scope{Domain: in.Domain, Policy: in.Policy}
		// One that was removed can still be lifted.
		if in.Policy == "" || in.On && o.Known != nil && !o.Known(s.Domain, s.Policy) {
			return s, &weir.Error{
				Code: weir.CodePolicyNotFound, Field: "policy",
				Message: fmt.Sprintf("there is no policy %.100q in domain %.100q", in.Policy, in.Domain),
				Hint:    "/rlconfig lists them, as domain.policy",
			}
		}
		return s, nil
	}
	return degrade.Scope{}, wrong("scope", fmt.Sprintf("%.40q is neither all nor policy", in.Scope), "")
}

func wrong(field, message, hint string) error {
	return &weir.Error{Code: weir.CodeInvalid, Field: field, Message: message, Hint: hint}
}

func switchStatus(s *degrade.Switch) SwitchStatus {
	out := SwitchStatus{Forced: []SwitchForced{}}
	for _, f := range s.List() {
		one := SwitchForced{
			Scope: ScopePolicy, Domain: f.Domain, Policy: f.Policy, Who: f.Who, Why: f.Why,
			Since: f.Since.UTC().Truncate(time.Second), Until: f.Until.UTC().Truncate(time.Second),
		}
		if f.Scope == degrade.Everything {
			one.Scope = ScopeAll
		}
		out.Forced = append(out.Forced, one)
	}
	return out
}
