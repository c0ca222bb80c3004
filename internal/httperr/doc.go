// Package httperr says over HTTP that no decision was made, and why: a status
// and a small JSON object with a code, the field at fault, a message and what to
// do next. The edges that speak HTTP say it through here, so that they say the
// same.
//
// It holds no state, is safe for concurrent use, and fails in no way: what it
// does not know becomes 500, without repeating a text that may be internal.
package httperr
