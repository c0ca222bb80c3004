package policy

import (
	"crypto/sha256"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/weirlimit/weir"
)

// Bounds on what a policy may say.
const (
	maxDomainBytes = 128
	maxIDBytes     = 64  // ids are labels of metrics
	maxTextBytes   = 256 // a pattern, a plan, a tenant: what edges let a value have
	maxPolicies    = 200_000
	maxLimits      = 16 // windows of one policy; a request has 64 charges in all
	maxBy          = 8  // dimensions of one counter
	maxPatterns    = 10_000
	maxCosts       = 256 // they are tried one by one
)

// ParseNative reads a file of Weir's own format. It is strict: a key it does
// not know is an error, as is anything it would have to guess. The file is nil
// when there is an error among the problems; those come in the order of lines.
// name is what positions say. Whatever data is, it does not panic.
func ParseNative(name string, data []byte) (*NativeFile, []Problem) {
	r := &nativeReader{file: name}
	f := &NativeFile{Name: name, Domain: DefaultDomain, sum: sha256.Sum256(data)}
	if root := r.document(data); root != nil {
		readFields(r, root, "the file", fileFields, f)
		r.checkIDs(f)
	}
	SortProblems(r.problems)
	if HasErrors(r.problems) {
		return nil, r.problems
	}
	return f, r.problems
}

// digest names the contents of the file: the same text gives the same digest.
func (f *NativeFile) digest() [sha256.Size]byte { return f.sum }

// fileFields are the keys of a file.
var fileFields = []nativeField[NativeFile]{
	{
		key: "domain", doc: "Who the policies are for: requests name it. Default: " + DefaultDomain + ".",
		shape: func() shape { return shape{"type": "string", "minLength": 1, "maxLength": maxDomainBytes} },
		read: func(r *nativeReader, n *yaml.Node, f *NativeFile) {
			f.Domain, _ = r.bounded(n, "domain", maxDomainBytes)
		},
	},
	{
		key: "policies", doc: "The policies. All that match a request apply to it.", must: true,
		shape: func() shape { return shape{"type": "array", "minItems": 1, "items": objectShape(policyFields)} },
		read:  readPolicies,
	},
	{
		key: "tenants", doc: "Which plan a tenant is on, for requests that do not say: {acme: pro}.",
		shape: func() shape {
			return shape{"type": "object", "additionalProperties": scalarShape("The plan's name.")}
		},
		read: readTenants,
	},
	prioritiesField,
}

func readPolicies(r *nativeReader, n *yaml.Node, f *NativeFile) {
	if list := r.enter(n); list.Kind != yaml.SequenceNode {
		r.wrongType(list, "policies", "a list")
		return
	}
	r.items(n, "policies", maxPolicies, func(v *yaml.Node) {
		d := policyDraft{NativePolicy: NativePolicy{At: r.at(v), Mode: weir.Enforce}}
		before := len(r.problems)
		if readFields(r, v, "a policy", policyFields, &d) && len(r.problems) == before {
			d.check(r, v)
			f.Policies = append(f.Policies, d.NativePolicy)
		}
	})
}

func readTenants(r *nativeReader, n *yaml.Node, f *NativeFile) {
	r.entries(n, "tenants", func(tenant string, k, v *yaml.Node) {
		plan, ok := r.bounded(v, "the plan of "+quoted(tenant), maxTextBytes)
		if ok {
			f.Tenants = append(f.Tenants, TenantPlan{Tenant: tenant, Plan: plan, At: r.at(k)})
		}
	})
}

// checkIDs finds ids that stand twice.
func (r *nativeReader) checkIDs(f *NativeFile) {
	first := make(map[string]Position, len(f.Policies))
	for i := range f.Policies {
		p := &f.Policies[i]
		if at, twice := first[p.ID]; twice {
			r.problemAt(p.At.Line, p.At.Column, "duplicate-id", "give one of them another id",
				"policy %q is already in line %d", p.ID, at.Line)
			continue
		}
		first[p.ID] = p.At
	}
}

// policyDraft is a policy while it is read, with the places that checks of the
// whole point at.
type policyDraft struct {
	NativePolicy
	limitsAt, plansAt, partitionAt, requireAt, leaseAt, shardsAt *yaml.Node
}

// check looks at what only the policy as a whole can have wrong.
func (d *policyDraft) check(r *nativeReader, n *yaml.Node) {
	what := "policy " + d.ID
	switch {
	case d.limitsAt == nil && d.plansAt != nil:
		r.problem(d.plansAt, "missing-key", "say what requests get that are on none of these plans, if only limits: unlimited",
			"%s has plans and no limits", what)
	case d.limitsAt == nil && len(d.Concurrency) == 0:
		r.problem(n, "missing-key", "for example limits: [100/s burst 200]", "%s has no limits", what)
	case d.Unlimited && d.plansAt == nil && len(d.Concurrency) == 0:
		r.problem(d.limitsAt, "bad-value", "leave the policy out, or add plans that are limited",
			"%s limits nothing", what)
	}
	if d.partitionAt != nil && d.Partition != "" && !slices.Contains(d.By, d.Partition) {
		r.problem(d.partitionAt, "bad-value", "one counter lives in one place: partition by one of its own dimensions",
			"partition %s is not in by", quoted(d.Partition))
	}
	if d.partitionAt == nil && len(d.By) > 0 {
		d.Partition = d.By[0]
		if slices.Contains(d.By, dimTenant) {
			d.Partition = dimTenant
		}
	}
	if d.Require && len(d.By) == 0 {
		r.problem(d.requireAt, "bad-value", "name the dimensions in by", "%s requires dimensions and has none", what)
	}
	d.checkLease(r)
	d.checkShards(r)
	d.apart(r, d.Limits)
	for i := range d.Plans {
		d.apart(r, d.Plans[i].Limits)
	}
}

// apart finds limits that would be one counter: a counter is told apart by its
// algorithm and its window, so that changing a count keeps what was consumed.
func (d *policyDraft) apart(r *nativeReader, limits []WrittenLimit) {
	limits = append(slices.Clone(limits), d.Concurrency...)
	for i, b := range limits {
		for _, a := range limits[:i] {
			if a.Limit.Window == b.Limit.Window && sameCounter(a.Limit.Algorithm, b.Limit.Algorithm) {
				r.problemAt(b.At.Line, b.At.Column, "duplicate-window", "keep the one that you mean, or use two policies",
					"%s and %s would share a counter", a.Limit, b.Limit)
			}
		}
	}
}

func sameCounter(a, b weir.Algorithm) bool {
	if a == weir.TokenBucket {
		a = weir.GCRA
	}
	if b == weir.TokenBucket {
		b = weir.GCRA
	}
	return a == b
}
