// Package archtest holds the repository to its own layout. It states who may
// import whom, and who may touch the environment or the clock, as rules that
// each carry their reason; its tests apply them to every package of the module
// and fail with that reason.
//
// # Why a test
//
// The directions of a code base erode one convenient import at a time, and no
// single one looks wrong in review. What a compiler does not refuse, this does.
//
// # How it looks
//
// [Load] reads the source files of the module rather than asking the go command
// for its packages: files behind build tags are seen on every platform, and
// `go test` knows what was read, so a cached pass is never a stale one. Test
// files are not read: a test may wire what production code may not.
//
// The rules see import declarations and references such as os.Getenv. They do
// not follow calls: a function value handed in from cmd is the intended way to
// give a package a clock or a setting.
//
// # Changing a rule
//
// A new package needs no entry unless it is pure, an adapter or an edge: the
// sets are at the top of rules.go. A new dependency needs a home, with a reason.
// Each rule has a case in TestRulesCatch that breaks it; a rule without one
// fails the suite, because a rule that cannot fail guards nothing.
//
// The tests here also hold scripts/setup to what CONTRIBUTING.md says of it.
package archtest
