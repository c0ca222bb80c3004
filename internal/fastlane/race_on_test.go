//go:build race

package fastlane

// Under the detector pools forget on purpose.
const raceEnabled = true
