//go:build race

package degrade_test

// Under the detector pools forget on purpose.
const raceEnabled = true
