//go:build !race

package fastlane

const raceEnabled = false
