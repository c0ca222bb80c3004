// Package token verifies JSON Web Tokens for package identity.
//
//	keys, err := token.NewRemote(token.RemoteOptions{URL: "https://idp.example/jwks.json"})
//	go keys.Watch(ctx, func(err error) { ... })
//	v, err := token.New(token.Options{Keys: keys, Issuer: "https://idp.example", Audiences: []string{"api"}})
//
// A token is believed when its algorithm is allowed, its signature fits a key
// that is meant for that algorithm, its issuer and audience are the expected
// ones, and it has neither expired nor begun too late. Issuer, audience and
// expiry are required; "none" is no algorithm; a secret and public keys are never
// accepted side by side, so that a public key cannot pass for a secret. A token
// with critical extensions (crit) is refused, and keys that a token brings along
// (jwk, jku, x5c) are not looked at. At most 8 KiB are parsed.
//
// # Keys
//
// Keys come from a [Source]: a fixed set, a file, or a [Remote], which fetches
// a JWKS document in the background and keeps the last good one while its
// provider is away. A token with an unknown kid is not believed, and asks for a
// refresh, at most one in a while; it never waits for it. Keys that are not
// understood are passed over, as RFC 7517 has it; RSA keys have 2048 bits or more.
//
// # Results are remembered
//
// A token that was believed is remembered by its SHA-256 until it expires, among
// a bounded number of others, so that the same token costs a hash and not a
// signature. What was found under other keys is forgotten as soon as the keys
// change.
//
// A [Verifier] and a [Remote] are safe for concurrent use. Nothing runs in the
// background unless Watch is called, and Watch ends with its context. No error
// repeats a token or a secret.
package token
