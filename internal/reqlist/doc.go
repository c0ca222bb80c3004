// Package reqlist reads and writes lists of requests: what weir bench records,
// replays, and people write by hand. A list is text:
//
//	weir-requests 1
//	# domain, cost and descriptors, with a tab between them
//	api	1	tenant=acme
//	api	2	tenant=acme,path=/login	user=bob
//
// The first line names the format and its version. Empty lines and those that
// begin with # are left out. A descriptor is name=value pairs with commas; a
// backslash makes the comma, the equals sign and the backslash part of a name or
// value, and \t, \n and \r are what they are elsewhere. Cost 0 only looks.
//
// Lists are bounded: 4,000,000 requests, lines of 16 KiB, 16 descriptors, 16
// pairs each. What is beyond, or is not UTF-8, is an *weir.Error that names the
// line. Everything here is pure but for the reader and writer it is given.
package reqlist
