//go:build !race

package redisstore

// raceEnabled tells timing bounds that everything is slower.
const raceEnabled = false
