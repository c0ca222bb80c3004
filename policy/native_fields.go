package policy

import (
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/key"
)

// The words of on_failure and mode, by their value.
var (
	failNames = []string{FailOpen: "open", FailClosed: "closed", FailLocal: "local"}
	modeNames = []string{weir.Enforce: "enforce", weir.Shadow: "shadow"}
)

// Bounds on a policy's deadline. A check that may take longer than ten seconds
// has no deadline worth the name.
const (
	minDeadline = time.Millisecond
	maxDeadline = 10 * time.Second
)

// policyFields are the keys of a policy.
var policyFields = []nativeField[policyDraft]{
	{
		key: "id", doc: "The policy's name in decisions, metrics and keys. Unique in its domain.", must: true,
		shape: func() shape { return shape{"type": "string", "pattern": `^[A-Za-z0-9_./-]{1,64}$`} },
		read:  readID,
	},
	{
		key: "match", doc: "What a request must be like. Each dimension is a value, a pattern with *, or a list of them; " +
			"route is POST /v1/orders/*, a list, or {method, path}.",
		shape: matchShape, read: readMatch,
	},
	{
		key: "by", doc: "The dimensions that share a counter, such as [tenant] or [tenant, user]. None: one counter for all.",
		shape: func() shape { return oneOrMore(shape{"type": "string", "pattern": dimensionPattern}) },
		read:  readBy,
	},
	{
		key: "partition", doc: "The dimension of by that decides where the counter lives. Default: tenant, else the first.",
		shape: func() shape { return shape{"type": "string", "pattern": dimensionPattern} },
		read: func(r *nativeReader, n *yaml.Node, d *policyDraft) {
			d.partitionAt = n
			d.Partition, _ = r.dimension(n, "partition")
		},
	},
	{
		key: "limits", doc: "One limit or several, all of which hold: 100/s burst 200, 3000/m, 20 concurrency 30s. " +
			"With plans, what a request on none of them gets; there it may be unlimited.",
		shape: limitsShape,
		read: func(r *nativeReader, n *yaml.Node, d *policyDraft) {
			d.limitsAt = n
			d.Limits, d.Unlimited = r.limits(n, "limits")
		},
	},
	{
		key: "plans", doc: "Limits by plan: {free: [10/s], enterprise: unlimited}. The plan is the request's dimension plan, " +
			"else that of its tenant in tenants.",
		shape: func() shape { return shape{"type": "object", "additionalProperties": limitsShape()} },
		read:  readPlans,
	},
	{
		key: "concurrency", doc: "How many requests may be in progress: 20, or {max: 20, timeout: 30s}. " +
			"One that is not released counts until the timeout, 1m by default.",
		shape: func() shape { return anyOf(countShape(weir.MaxLogCount), objectShape(concurrencyFields)) },
		read:  readConcurrency,
	},
	{
		key: "cost", doc: "What a unit of a request costs: a number, or by route: {POST /v1/exports: 10, \"*\": 1}. " +
			"The first route that matches counts; none: 1.",
		shape: func() shape {
			number := shape{"type": "integer", "minimum": 0, "maximum": weir.MaxCount}
			return anyOf(number, shape{"type": "object", "minProperties": 1, "additionalProperties": number})
		},
		read: readCost,
	},
	{
		key: "on_failure", doc: "When the store cannot answer: open passes within a local backstop, closed denies, " +
			"local passes within a stricter one.",
		shape: func() shape { return enumShape(failNames) },
		read: func(r *nativeReader, n *yaml.Node, d *policyDraft) {
			if i, ok := r.word(n, "on_failure", failNames); ok {
				d.Fail, d.FailSet = FailMode(i), true
			}
		},
	},
	{
		key: "mode", doc: "enforce, or shadow: counted and reported, and never denies.",
		shape: func() shape { return enumShape(modeNames) },
		read: func(r *nativeReader, n *yaml.Node, d *policyDraft) {
			if i, ok := r.word(n, "mode", modeNames); ok {
				d.Mode = weir.Mode(i)
			}
		},
	},
	answerField,
	{
		key: "deadline", doc: "How long a check may take before on_failure answers it: 5ms. Default: the engine's.",
		shape: func() shape { return shape{"type": "string", "pattern": `^[0-9.]+(us|µs|ms|s)$`} },
		read: func(r *nativeReader, n *yaml.Node, d *policyDraft) {
			d.Deadline, _ = r.duration(n, "deadline", minDeadline, maxDeadline)
		},
	},
	{
		key: "lease", doc: "auto: whoever asks for many units may take some ahead and spend them without asking. " +
			"Default: off, unless the server was told otherwise.",
		shape: func() shape { return enumShape(leaseNames) },
		read: func(r *nativeReader, n *yaml.Node, d *policyDraft) {
			if i, ok := r.word(n, "lease", leaseNames); ok {
				d.leaseAt = n
				d.Lease, d.LeaseSet = i == leaseAuto, true
			}
		},
	},
	{
		key: "counter_shards", doc: "Into how many sub-counters, each with its part of the limits, a counter is split that is too hot for one place.",
		shape: func() shape { return shape{"type": "integer", "minimum": minShards, "maximum": key.MaxShard} },
		read: func(r *nativeReader, n *yaml.Node, d *policyDraft) {
			if shards, ok := r.number(n, "counter_shards", minShards, key.MaxShard); ok {
				d.shardsAt, d.Shards = n, int(shards)
			}
		},
	},
	{
		key: "require", doc: "Whether a request without one of the dimensions of by is an error. Default: the policy does not apply to it.",
		shape: func() shape { return shape{"type": "boolean"} },
		read: func(r *nativeReader, n *yaml.Node, d *policyDraft) {
			d.requireAt = n
			d.Require, _ = r.boolean(n, "require")
		},
	},
}

func readID(r *nativeReader, n *yaml.Node, d *policyDraft) {
	id, ok := r.bounded(n, "id", maxIDBytes)
	if !ok {
		return
	}
	for _, c := range []byte(id) {
		if !isWordByte(c) && c != '.' && c != '/' && c != '-' {
			r.problem(n, "bad-value", "use letters, digits and _ . / -", "id %s has %q in it", quoted(id), c)
			return
		}
	}
	d.ID = id
}

func readBy(r *nativeReader, n *yaml.Node, d *policyDraft) {
	r.items(n, "by", maxBy, func(v *yaml.Node) {
		name, ok := r.dimension(v, "by")
		if !ok {
			return
		}
		if slices.Contains(d.By, name) {
			r.problem(v, "duplicate-value", "name it once", "by has %s twice", quoted(name))
			return
		}
		d.By = append(d.By, name)
	})
}

func readPlans(r *nativeReader, n *yaml.Node, d *policyDraft) {
	d.plansAt = n
	some := false
	ok := r.entries(n, "plans", func(plan string, k, v *yaml.Node) {
		some = true
		if plan == "" || len(plan) > maxTextBytes {
			r.problem(k, "bad-value", "", "a plan's name has 1 to %d bytes", maxTextBytes)
			return
		}
		limits, _ := r.limits(v, "plan "+quoted(plan))
		d.Plans = append(d.Plans, PlanLimits{Plan: plan, Limits: limits, At: r.at(k)})
	})
	if ok && !some {
		r.problem(n, "empty", "leave the key out, or name a plan", "plans is empty")
	}
}
