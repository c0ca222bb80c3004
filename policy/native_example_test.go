package policy_test

import (
	"fmt"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/policy"
)

const text = `
policies:
  - id: per-tenant
    by: [tenant]
    limits: [100/s burst 200, 100000/h]
    on_failure: open
`

func load(name, text string) *policy.Set {
	file, problems := policy.ParseNative(name, []byte(text))
	if file == nil {
		panic(problems)
	}
	set, _ := policy.Compile([]*policy.File{{Name: name, Native: file}}, policy.Options{})
	return set
}

func acme() *weir.Request {
	return &weir.Request{
		Domain:      policy.DefaultDomain,
		Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{{Name: "tenant", Value: "acme"}}}},
	}
}

func ExampleParseNative() {
	_, problems := policy.ParseNative("api.yaml", []byte("policies:\n  - id: per-tenant\n    limit: 100/s\n"))
	fmt.Println(problems[0])
	// Output: api.yaml:3:5: a policy has no key "limit" (did you mean limits?)
}

func ExampleSet_Resolve() {
	var plan policy.Plan
	if err := load("api.yaml", text).Resolve(acme(), &plan); err != nil {
		panic(err)
	}
	for _, c := range plan.Charges {
		fmt.Println(c.Key, c.Meter.Limit, c.Cost, c.Mode)
	}
	// Output:
	// {acme}7:default10:per-tenantgs 100/s burst 200 1 enforce
	// {acme}7:default10:per-tenantwh 100000/h 1 enforce
}

func ExampleLint() {
	file, _ := policy.ParseNative("api.yaml", []byte("policies:\n  - id: a\n    limits: [10/s, 100000/m]\n    on_failure: open\n"))
	for _, p := range policy.Lint([]*policy.File{{Name: "api.yaml", Native: file}}) {
		fmt.Println(p)
	}
	// Output: api.yaml:3:20: 100000/m can never deny: 10/s always does so first (remove it, or make it tighter)
}

func ExampleExplain() {
	e := policy.Explain(load("api.yaml", text), acme())
	e.Version = "1" // it names the contents
	fmt.Print(e.Text())
	// Output:
	// domain default, format native, version 1
	// request tenant=acme
	//   applies
	//     per-tenant (api.yaml:3:5): its own limits; counter tenant=acme
	// charges
	//   per-tenant: 100/s burst 200, cost 1, enforce, key {acme}7:default10:per-tenantgs
	//   per-tenant: 100000/h, cost 1, enforce, key {acme}7:default10:per-tenantwh
	// on failure open
}
