// Package storetest is the suite that every weir.Store passes, and the
// reference store it compares them with. An adapter's test is this:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t testing.TB) storetest.Harness {
//			s := mystore.New()
//			return storetest.Harness{Store: s, SetClock: s.SetClock}
//		})
//	}
//
// # What it tries
//
// The text vectors in testdata/vectors, whose every answer was reasoned out;
// random histories whose answers must equal those of Model, and which are cut
// down and printed as a vector when they do not; concurrent histories that must
// be linearizable and must never admit more than a limit holds; and one case
// for every sentence of weir.Store and weir.Entry that can be tested. A case
// uses keys that no other case uses, so stores may share one database.
//
// The suite is itself tested: broken_test.go holds stores with one fault each,
// and the case that must reject it.
//
// # What it does not ask
//
// A store may drop a state as soon as it has expired, or keep it for ever. The
// two differ when a clock returns to before the expiry, and when a limit with a
// longer window arrives after it. Histories avoid both: see ledger.
//
// # Failure
//
// A case reports through testing.TB and stops at the first wrong answer, since
// all later ones follow from it. A store that never calls done fails its case
// after 30 seconds. Run is not for concurrent use; Model is.
package storetest
