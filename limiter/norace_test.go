//go:build !race

package limiter_test

const raced = false
