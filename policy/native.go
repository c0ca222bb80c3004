package policy

import (
	"crypto/sha256"
	"time"

	"github.com/weirlimit/weir"
)

// DefaultDomain is the domain of a native file that names none. Edges put it
// in place of an empty Request.Domain.
const DefaultDomain = "default"

// Dimensions with a meaning of their own. All others are only compared.
const (
	dimTenant = "tenant" // looked up in the tenants table, and the usual partition
	dimPlan   = "plan"   // picks among a policy's plans; the tenants table stands in for it
	dimMethod = "method" // together with the path, what a route pattern is tried on
	dimPath   = "path"
	dimRoute  = "route" // the router's own name for it, tried as well

	dimPriority = "priority" // one of four; the method stands in for it
)

// NativeFile is a file of Weir's own format: what was written, checked, and
// nothing more. It is not changed after it was parsed.
type NativeFile struct {
	Name     string
	Domain   string
	Policies []NativePolicy
	Tenants  []TenantPlan // in the order written; each tenant once

	Priorities []RoutePriority // in the order written

	sum [sha256.Size]byte // of the text
}

// TenantPlan is one line of the tenants table.
type TenantPlan struct {
	Tenant, Plan string
	At           Position
}

// NativePolicy is one policy as written.
type NativePolicy struct {
	ID string
	At Position // where the policy begins

	Match  []Condition // all must hold
	Routes []Route     // any one must hold; empty: every route
	// By are the dimensions whose values share a counter. Empty: one counter
	// for all.
	By        []string
	Partition string // the dimension of By that decides the slot; empty when By is

	Limits      []WrittenLimit // what applies when no plan does
	Unlimited   bool           // limits: unlimited, where plans are limited
	Plans       []PlanLimits
	Concurrency []WrittenLimit // at most one; applies whatever the plan

	Cost []RouteCost // the first whose route matches; empty: 1

	Sheds    bool // answer: unavailable
	Fail     FailMode
	FailSet  bool
	Mode     weir.Mode     // Enforce or Shadow
	Deadline time.Duration // 0: the engine's
	Require  bool          // a request without one of By is an error

	Lease    bool // units may be taken ahead
	LeaseSet bool // written down, not left to Options.Lease
	Shards   int  // sub-counters of each counter; 0: it is not split
}

// Condition is what one dimension must be: any one of the patterns. A request
// without the dimension, or with an empty value, does not meet it.
type Condition struct {
	Dimension string
	Patterns  []string // '*' stands for any characters, none included
	At        Position
}

// WrittenLimit is a limit and where it stands.
type WrittenLimit struct {
	Limit weir.Limit
	At    Position
}

// PlanLimits are the limits of one plan. None: the plan is unlimited.
type PlanLimits struct {
	Plan   string
	Limits []WrittenLimit
	At     Position
}

// RouteCost is what a unit of the requests on a route costs.
type RouteCost struct {
	Any   bool // every route, and requests that have none
	Route Route
	Cost  int64
	At    Position
}

// label is how the cost's route is written.
func (c *RouteCost) label() string {
	if c.Any {
		return "*"
	}
	return c.Route.String()
}
