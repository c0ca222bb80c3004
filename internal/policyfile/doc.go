// Package policyfile keeps the policies that are written in files in service:
// it finds the files, reads them, has package policy parse and compile them,
// notices when they change, and remembers the last versions that were good.
//
//	paths -> scan -> read -> parse -> choose -> compile -> *policy.Set
//	           ^                        |
//	   events, poll, Reload      last good versions, also on disk
//
// # What is in service
//
// A file that cannot be read or parsed is reported, with its position, and
// keeps its own last good version while the others apply. Where files
// contradict each other, those in service win over those that changed, and
// among the changed the earlier over the later. With Compat one bad file
// rejects the load whole and the last good set stays, as users of
// envoyproxy/ratelimit know it.
//
// A file that is deleted from a directory goes away. A path that Options name,
// and a directory that cannot be listed, do not: what is not there or cannot be
// seen was not deleted on purpose, and the last good versions stay.
//
// With a CacheDir the contents in service survive a restart. They are used for
// files that are bad when the process starts, and for paths where nothing is
// found any more; a file missing from a directory that has others was deleted.
//
// # What is read
//
// Named files, whatever they are called, and in directories, recursively, the
// files that end in .yaml, .yml or .json (all of them with Compat). Links are
// followed. Left aside are dot files, what editors leave behind while they save,
// and names that begin with two dots: a Kubernetes volume keeps its versions
// there and links to them. A pass that sees files change while it reads begins
// again, so that a volume that is swapped is not read half before, half after.
//
// # Changes
//
// File events are a hint and polling is the truth: when events are not to be had
// (network file systems, exhausted inotify limits) changes are seen at the next
// poll, and the Report says so.
//
// # Concurrency and failure
//
// A Loader is safe for concurrent use. Passes run one at a time, on the caller's
// goroutine (Load) or on that of Watch; no goroutine outlives Watch. Nothing
// here is on the path of a decision: a file system that hangs delays a reload
// and nothing else. Nothing panics on what a file says: a parser that does is
// reported as a problem of the file.
package policyfile
