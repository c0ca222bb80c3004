// Package tlsfile makes TLS configurations of files, and keeps them current.
//
// A Server is a listener's side: a certificate with its key and, for mTLS, the
// authorities of clients and the names (SANs) that their certificates may have.
// A Client is the other side. Both read their files again when they change or
// when told to: a new handshake sees the newest files, a connection that is open
// goes on under those it was made with. Files that are wrong leave the last good
// ones in force, all of them together, so that a certificate and its key may be
// replaced one after the other.
//
// Servers give out no session tickets. A client that could resume would come
// back under an authority or a name that is no longer allowed; what it costs is
// a full handshake per connection, and those who ask a rate limiter keep theirs.
//
// An expired certificate is no error here: refusing it would turn a warning into
// an outage, and clients refuse it anyway. Warning says so in time.
//
// Errors are *weir.Error of weir.CodeInvalid, whose Field is the file. All types
// are safe for concurrent use. Nothing runs in the background but Watch.
package tlsfile
