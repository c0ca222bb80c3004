// Package key names counters. A key is an injective, length-safe encoding of
// (partition, domain, rule, values, window), so that no two counters share a
// key whatever bytes a caller sends, and all counters of one partition live in
// one slot of a Redis Cluster.
//
// # Form
//
//	{tenant-42}3:api5:login3:GETgm
//	 partition  dom  rule   val  algorithm letter and window
//
// The partition stands first, between braces, which Redis Cluster takes for the
// hash tag: from the first '{' to the next '}', when that is not empty. Inside
// them '%' is written %25, '}' is written %7D, and an empty partition is a lone
// '%'. No byte of a caller can therefore end its tag, and a tag is never empty.
//
// A partition that is personal, such as an address, is not written: its place is
// taken by the number of a slot that it shares with others, as {%~3fa}, which no
// literal can write either. Its pseudonym is then the first of the values. The
// slot does not change when pseudonyms do.
//
// A counter that is split into several has the number of the sub-counter before
// its partition, as {%!02acme}, which no literal can write: so each lives in a
// slot of its own.
//
// Then come parts, each with its length in bytes before it: the domain, the
// rule, and any values besides the partition. A length cannot be forged: what
// follows it is counted, not searched for an end.
//
// The algorithm's letter and the window come last. They start with a letter,
// where a part starts with a digit or '#', and so are never read as one. A
// limit's count and burst are not in the key: changing them keeps what was
// consumed.
//
// Text longer than [MaxLiteral] bytes is replaced by its SHA-256, as #DIGEST
// for a part and %#DIGEST for a partition. Neither can be written by a literal,
// so that sending a digest does not reach the counter of what it digests.
//
// # Use
//
// All functions are pure and safe for concurrent use. Appending cannot fail and
// allocates only when dst must grow. [Parse] refuses whatever [Append] does not
// write.
package key
