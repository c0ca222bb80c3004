//go:build !race

package chaos

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// scenario is one fault, and what must hold.
type scenario struct {
	name   string
	fault  string // the line of the table that it belongs to
	bounds string
	run    func(t testing.TB, f form) *outcome
}

// scenarios are all there are, in the order of the table.
var scenarios = []scenario{
	{"kill -9", faultKill, boundsKill, killPrimary},
	{"SIGSTOP, SIGCONT", faultStop, boundsStop, stopPrimary},
	{"all of it gone", faultGone, boundsGone, allGone},
	{"gone at boot", faultGone, boundsGone, goneAtBoot},
	{"slow", faultSlow, boundsSlow, slowRedis},
	{"resets", faultSlow, boundsSlow, resets},
	{"half-open", faultSlow, boundsSlow, halfOpen},
	{"partition", faultPartition, boundsPartition, partition},
	{"graceful failover", faultReshard, boundsReshard, gracefulFailover},
	{"reshard", faultReshard, boundsReshard, reshard},
	{"SCRIPT FLUSH", faultFlush, boundsFlush, scriptFlush},
	{"FLUSHALL", faultFlush, boundsFlush, flushAll},
	{"empty restart", faultFlush, boundsFlush, emptyRestart},
	{"maxmemory, noeviction", faultMemory, boundsMemory, fullNoEviction},
	{"maxmemory, " + evictPolicy, faultMemory, boundsMemory, fullEvicting},
	{"READONLY", faultRefused, boundsRefused, readOnly},
	{"NOAUTH", faultRefused, boundsRefused, noAuth},
	{"NOPERM", faultRefused, boundsRefused, noPerm},
	{"lease holder stopped", faultLease, boundsLease, leaseHolder},
	{"one of ten", faultTenth, boundsTenth, oneOfTen},
	{"random keys", faultFlood, boundsFlood, randomKeys},
	{"flood", faultFlood, boundsFlood, flood},
	{"whale", faultWhale, boundsWhale, whale},
}

// The lines of the table.
const (
	faultKill  = "`kill -9` of a primary"
	boundsKill = "0 client errors; p99 <= B+5 ms; degraded visible in the next scrape; " +
		">= 99% store-backed within 2 s of promotion; extra admission <= 1 burst per key"
	faultStop       = "SIGSTOP of a primary, then SIGCONT"
	boundsStop      = "the same; goroutines bounded; nothing leaked"
	faultGone       = "all Redis gone, also at boot"
	boundsGone      = "serves within 2 s of start; a check takes < 100 us at p50; per-policy mode obeyed"
	faultSlow       = "slow Redis (50 +- 20 ms), resets, half-open connections"
	boundsSlow      = "p99 <= B+5 ms; breaker open within 250 ms; no return to closed while slow"
	faultPartition  = "partition (network namespace, link down)"
	boundsPartition = "as SIGSTOP; heals without a restart; at most 2 dials a second per node"
	faultReshard    = "reshard of 1000 slots, graceful failover"
	boundsReshard   = "0 errors, 0 degraded"
	faultFlush      = "SCRIPT FLUSH, FLUSHALL, empty restart"
	boundsFlush     = "0 errors; extra <= 1 burst"
	faultMemory     = "maxmemory with noeviction; with an evicting policy"
	boundsMemory    = "degraded and counted; evicting, 0 errors and extra <= 1 burst per eviction of a counter, and `weir doctor` refuses the policy"
	faultRefused    = "READONLY, NOAUTH, NOPERM"
	boundsRefused   = "classified reason; no retry loop; extra <= 1 burst for an outage"
	faultLease      = "lease holder stopped past its expiry, then resumed"
	boundsLease     = "spends nothing expired; extra <= nodes x L"
	faultTenth      = "10 + 10 cluster, one primary killed"
	boundsTenth     = "fail-open share visible in the next scrape, under 1% of that minute's decisions"
	faultFlood      = "a million random keys; one tenant flooding"
	boundsFlood     = "memory bounded; other tenants' decisions unchanged, their p99 within 2x"
)

var suiteBegan = time.Now()

// TestChaos runs every row. The long form writes the report when all of them
// were run: make chaos. A broken row breaks the test, and is in the report.
func TestChaos(t *testing.T) {
	f := theForm()
	file, err := reportFile(f, os.Getenv("WEIR_CHAOS_REPORT"), *reportShort)
	if err != nil {
		t.Fatal(err)
	}
	shared.root = t
	t.Cleanup(shared.end)
	var outcomes []*outcome
	for _, s := range scenarios {
		began := time.Now()
		t.Run(s.name, func(t *testing.T) {
			o := s.settle(t, f)
			o.name, o.fault, o.bounds, o.failed = s.name, s.fault, s.bounds, t.Failed()
			outcomes = append(outcomes, o)
			t.Log(o.cells())
		})
		t.Logf("%s: %v", s.name, time.Since(began).Round(10*time.Millisecond))
	}
	fmt.Println(summary(f, outcomes, time.Since(suiteBegan))) // also of a test that passes
	if file != "" && len(outcomes) == len(scenarios) {
		if err := os.WriteFile(file, []byte(page(f, machine(), time.Now(), outcomes)), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// settle runs a row until it holds, or fails on a machine that did not disturb
// it. A machine that always does fails it too: nothing was shown.
func (s *scenario) settle(t *testing.T, f form) *outcome {
	t.Helper()
	for n := 1; ; n++ {
		o := &outcome{}
		a := try(t, func(t testing.TB) {
			if got := s.run(t, f); got != nil {
				o = got
			}
		})
		o.attempts = n
		late, disturbed := a.disturbed()
		switch {
		case !a.Failed():
			return o
		case disturbed && n < attempts && (f.name == longForm.name || time.Since(suiteBegan) < tooLong):
			fmt.Printf("chaos: %s: attempt %d failed on a machine that was %v late; again: %s\n", s.name, n, late.Round(time.Millisecond), a.why())
			a.tell(t)
			awaitCalm()
		default:
			a.tell(t)
			t.Errorf("row broken at attempt %d; the machine was at most %v late", n, late.Round(time.Millisecond))
			return o
		}
	}
}
