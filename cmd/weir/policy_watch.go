package main

import (
	"strings"

	"github.com/weirlimit/weir/internal/admin"
	"github.com/weirlimit/weir/internal/policyfile"
	"github.com/weirlimit/weir/policy"
)

// policyWatch is what was last said of the policy files, so that it is said once.
type policyWatch struct {
	cacheError string
	stale      int  // files that are not served as they are written
	wrong      bool // something that is written is not in service
	ready      bool // said
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

// tellOfFiles says that files are served as they are written again: the version
// may be the one that was served all the while.
func (s *server) tellOfFiles(r *policyfile.Report, stale int) {
	was := s.policies
	s.policies.stale, s.policies.wrong = stale, !r.OK()
	if stale < was.stale || was.wrong && r.OK() {
		s.log.Info("policy files are right again", "files", len(r.Files), "still_wrong", stale)
	}
}

// tellReady says whether the server is ready, and later that it is.
func (s *server) tellReady() {
	status := s.health.Status()
	if !status.Ready {
		s.log.Warn("not ready", "because", strings.Join(status.Reasons, "; "))
		return
	}
	s.policies.ready = true
	s.log.Info("ready", "counters", s.where)
}

// applyAndTell is apply for a server that listens: one that had no policies is
// ready with its first.
func (s *server) applyAndTell(set *policy.Set, r policyfile.Report) {
	s.apply(set, r)
	if !s.policies.ready && s.health.State() == admin.Ready {
		s.tellReady()
	}
}
