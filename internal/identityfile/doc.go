// Package identityfile reads the file that says whose word is taken for what,
// the file of API keys beside it, and keeps what they describe current.
//
//	trusted_peers: [10.0.0.0/8]
//	client_ip: {header: x-forwarded-for, hops: 2}
//	jwt: {issuer: https://idp.example, audience: api, jwks_url: https://idp.example/jwks.json, tenant_claim: org}
//	api_keys: {file: keys.yaml}
//
// Files are read strictly: an unknown key, a value of the wrong type or a second
// document is an error, with line, column and what to write instead. Nothing in
// them is a secret: API keys are written by their digests, and a secret is in a
// file of its own, whose contents no error repeats.
//
// [Parse] and [ParseKeys] are pure. A [Live] follows the files and the keys of
// the provider; a new version that is bad, or names a file that is, leaves the
// old one in force. It is safe for concurrent use, Current is one atomic load,
// and nothing runs in the background but Watch, which ends with its context.
package identityfile
