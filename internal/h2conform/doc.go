// Package h2conform holds internal/fastlane to HTTP/2 by the cases of h2spec: all
// of them, the strict ones too, over a real listener, in cleartext and over TLS.
//
// Every case passes but for those in testdata/exceptions.txt, each with a reason.
// That list is exact: a case on it that passes fails the test, as does one that
// is not and fails.
package h2conform
