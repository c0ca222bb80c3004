package degrade

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
)

// Bounds of a Switch.
const (
	DefaultForce = time.Hour      // how long something is forced when nobody says otherwise
	MaxForce     = 24 * time.Hour // longer is a change of policy
	MaxForced    = 64             // policies at once, everything beside them
	maxWords     = 256            // bytes of who and why
)

// Scope is what is forced: one policy, or with neither name everything.
type Scope struct{ Domain, Policy string }

// Everything is the scope of all requests.
var Everything = Scope{}

func (s Scope) String() string {
	if s == Everything {
		return "everything"
	}
	return s.Domain + "." + s.Policy
}

// Forced is something that is forced.
type Forced struct {
	Scope
	Who, Why     string
	Since, Until time.Time
}

// Switch forces requests through: the operator's last resort when limits do
// harm. What it forces ends by itself. It lives in this process alone, asks
// nobody, and is gone after a restart.
//
//	          Force                    until its time, or Lift
//	limited --------> let through  ---------------------------> limited
//
// Make one with NewSwitch.
type Switch struct {
	now    func() time.Time
	forced atomic.Pointer[[]Forced] // never changed, only replaced; nil for none
	mu     sync.Mutex               // for replacing it
}

var _ engine.Switch = (*Switch)(nil)

// NewSwitch returns a switch that forces nothing. now tells the time, by a clock
// that is not set while it runs: time.Now is one.
func NewSwitch(now func() time.Time) *Switch { return &Switch{now: now} }

// On implements engine.Switch. It is one load where nothing is forced.
func (s *Switch) On() bool {
	list := s.forced.Load()
	if list == nil {
		return false
	}
	now := s.now()
	return slices.ContainsFunc(*list, func(f Forced) bool { return now.Before(f.Until) })
}

// Forced implements engine.Switch.
func (s *Switch) Forced(domain, rule string) bool {
	list := s.forced.Load()
	if list == nil {
		return false
	}
	now := s.now()
	for i := range *list {
		f := &(*list)[i]
		if (f.Scope == Everything || f.Domain == domain && f.Policy == rule) && now.Before(f.Until) {
			return true
		}
	}
	return false
}

// List returns what is forced, what ends first first.
func (s *Switch) List() []Forced {
	var out []Forced
	if list := s.forced.Load(); list != nil {
		now := s.now()
		for _, f := range *list {
			if now.Before(f.Until) {
				out = append(out, f)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Forced) int { return a.Until.Compare(b.Until) })
	return out
}

// Force lets a scope through for a while; 0 is DefaultForce. Of a scope that is
// forced already, the last word counts. who and why are required.
func (s *Switch) Force(scope Scope, who, why string, span time.Duration) (Forced, error) {
	if span == 0 {
		span = DefaultForce
	}
	if err := checkForce(scope, who, why, span); err != nil {
		return Forced{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	kept := s.othersLocked(scope, now)
	if scope != Everything && countPolicies(kept) >= MaxForced {
		return Forced{}, &weir.Error{
			Code: weir.CodeInvalid, Field: "policy", Message: fmt.Sprintf("%d policies are forced already", MaxForced),
			Hint: "force everything, or lift some",
		}
	}
	f := Forced{Scope: scope, Who: who, Why: why, Since: now, Until: now.Add(span)}
	kept = append(kept, f)
	s.forced.Store(&kept)
	return f, nil
}

func countPolicies(list []Forced) (n int) {
	for i := range list {
		if list[i].Scope != Everything {
			n++
		}
	}
	return n
}

// Lift ends what is forced of a scope, for Everything all there is, and returns
// what that was.
func (s *Switch) Lift(scope Scope) []Forced {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	return s.replaceLocked(func(f *Forced) bool {
		return now.Before(f.Until) && (scope == Everything || f.Scope == scope)
	})
}

// Ended forgets what has ended by itself since the last call, and returns it.
// Whether it is called makes no difference to what is forced.
func (s *Switch) Ended() []Forced {
	if s.forced.Load() == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	return s.replaceLocked(func(f *Forced) bool { return !now.Before(f.Until) })
}

// replaceLocked drops what f names, and returns it.
func (s *Switch) replaceLocked(drop func(*Forced) bool) (dropped []Forced) {
	list := s.forced.Load()
	if list == nil {
		return nil
	}
	var kept []Forced
	for _, f := range *list {
		if drop(&f) {
			dropped = append(dropped, f)
		} else {
			kept = append(kept, f)
		}
	}
	if len(kept) == 0 {
		s.forced.Store(nil)
	} else {
		s.forced.Store(&kept)
	}
	return dropped
}

// othersLocked copies what is in force besides scope. What has ended and was not
// yet said to have stays, as long as there is room.
func (s *Switch) othersLocked(scope Scope, now time.Time) (kept []Forced) {
	list := s.forced.Load()
	if list == nil {
		return nil
	}
	for _, f := range *list {
		if f.Scope != scope && (now.Before(f.Until) || len(*list) < MaxForced) {
			kept = append(kept, f)
		}
	}
	return kept
}

func checkForce(scope Scope, who, why string, span time.Duration) error {
	switch {
	case (scope.Policy == "") != (scope.Domain == ""):
		return bad("policy", "a policy is named by its domain and its id", "give both, or neither for everything")
	case span < 0 || span > MaxForce:
		return bad("for", fmt.Sprintf("%s is outside 1s to %s", span, MaxForce), "change the policy if it is to last longer")
	case strings.TrimSpace(why) == "":
		return bad("why", "is missing", "say why it is forced, for the log")
	}
	return CheckWords(who, why)
}

// CheckWords checks who gives an order and why: what goes into a log is a line
// of text, and has a name to it.
func CheckWords(who, why string) error {
	switch {
	case strings.TrimSpace(who) == "":
		return bad("who", "is missing", "say who orders it, for the log")
	case !isLine(who):
		return bad("who", notALine, "")
	case !isLine(why):
		return bad("why", notALine, "")
	}
	return nil
}

var notALine = fmt.Sprintf("is no line of at most %d bytes of text", maxWords)

func isLine(text string) bool {
	return len(text) <= maxWords && !strings.ContainsFunc(text, func(r rune) bool {
		return r == unicode.ReplacementChar || !unicode.IsPrint(r)
	})
}

func bad(field, message, hint string) error {
	return &weir.Error{Code: weir.CodeInvalid, Field: field, Message: message, Hint: hint}
}
