package main

import _ "embed"

// samplePolicy is served when no policies are given: enough to see one pass and
// one denial.
//
//go:embed sample.yaml
var samplePolicy []byte

// sampleName is what reports call it.
const sampleName = "sample.yaml"
