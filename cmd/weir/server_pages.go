package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/admin"
)

// writeRules writes the rules in force, one a line, for /rlconfig.
func (s *server) writeRules(w io.Writer) error {
	set := s.engine.Set()
	if set == nil {
		return &weir.Error{Code: weir.CodeNotReady, Message: "no rate limit configuration loaded"}
	}
	for _, r := range set.Rules() {
		text := r.Domain + "." + r.ID + ":"
		switch {
		case r.Unlimited:
			text += " unlimited"
		case r.Denies:
			text += " denies all"
		default:
			text += limitsText(r.Windows)
		}
		for _, plan := range slices.Sorted(maps.Keys(r.ByPlan)) {
			limits := limitsText(r.ByPlan[plan])
			if limits == "" {
				limits = " unlimited"
			}
			text += "; " + plan + ":" + limits
		}
		if r.Mode == weir.Shadow {
			text += " (shadow)"
		}
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	return nil
}

// limitsText has a space before each limit.
func limitsText(windows []*weir.Meter) string {
	text := ""
	for _, m := range windows {
		text += " " + m.Limit.String()
	}
	return text
}

// config describes the configuration in force, for /config.
func (s *server) config() admin.Config {
	c := admin.Config{Serial: s.engine.NextSerial() - 1, Files: []admin.File{}, Problems: []admin.Problem{}}
	if set := s.engine.Set(); set != nil {
		c.Version, c.Rules = set.Version(), len(set.Rules())
	}
	if s.loader == nil {
		return c
	}
	_, r := s.loader.Current()
	c.LoadedAt, c.Rejected, c.Problems, c.CacheError = r.At, r.Rejected, admin.Problems(r.All()), r.CacheError
	for i := range r.Files {
		f := &r.Files[i]
		c.Files = append(c.Files, admin.File{Name: f.Name, State: string(f.State), SHA256: f.Sum, LoadedAt: f.LoadedAt, Since: f.Since})
	}
	return c
}
