package main

import (
	"github.com/weirlimit/weir/internal/policyfile"
)

// policyWatch is what was last said of the policy files, so that it is said once.
type policyWatch struct {
	cacheError string
}

// problemsOf counts what is wrong after a pass over the files, warnings too.
func problemsOf(r *policyfile.Report) int {
	n := len(r.All())
	if r.CacheError != "" {
		n++
	}
	return n
}

// filesOf counts the files that are not served as they are written, and those of
// which anything is served.
func filesOf(r *policyfile.Report) (stale, served int) {
	for i := range r.Files {
		if r.Files[i].State != policyfile.Current {
			stale++
		}
		if r.Files[i].State != policyfile.LeftOut {
			served++
		}
	}
	return stale, served
}

// tellOfCache says that what is in service is not kept for the next start, and
// that it is again.
func (s *server) tellOfCache(r *policyfile.Report) {
	was := s.policies.cacheError
	if s.policies.cacheError = r.CacheError; r.CacheError == was {
		return
	}
	if r.CacheError != "" {
		s.log.Warn("policies are not kept for the next start; see --cache-dir", "error", r.CacheError)
		return
	}
	s.log.Info("policies are kept for the next start again")
}
