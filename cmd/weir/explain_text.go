package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/policy"
)

// explained is an explanation and what a store knows of it.
type explained struct {
	policy.Explanation
	Domains []string       `json:"domains,omitempty"` // that there are, when the request's is none
	Store   string         `json:"store,omitempty"`
	State   []counterState `json:"state,omitzero"` // one per charge, when a store was asked
}

// counterState is what is in use of a charge's counter.
type counterState struct {
	Rule       string      `json:"rule"`
	Limit      string      `json:"limit"`
	Key        string      `json:"key"`
	Used       int64       `json:"used"`
	Remaining  int64       `json:"remaining"`
	ResetAfter weir.Micros `json:"reset_after_us"`
}

// domainsOf lists the domains of a set.
func domainsOf(s *policy.Set) []string {
	var names []string
	for _, r := range s.Rules() {
		names = append(names, r.Domain)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// maxDomains is how many domains are listed for people.
const maxDomains = 10

func (e *explained) text(w io.Writer) error {
	if _, err := io.WriteString(w, e.Text()); err != nil {
		return err
	}
	if e.Format == "none" {
		list := e.Domains[:min(len(e.Domains), maxDomains)]
		text := fmt.Sprintf("no rule is for domain %s; there are rules for %s\n", plain(e.Domain), strings.Join(list, ", "))
		if len(list) == 0 {
			text = "there are no rules\n"
		} else if more := len(e.Domains) - len(list); more > 0 {
			text = strings.TrimSuffix(text, "\n") + fmt.Sprintf(" and %d more\n", more)
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	if e.Store == "" || len(e.State) == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(w, "state in %s\n", e.Store); err != nil {
		return err
	}
	rows := [][]string{{"  RULE", "LIMIT", "USED", "REMAINING", "RESET AFTER"}}
	for _, s := range e.State {
		rows = append(rows, []string{
			"  " + s.Rule, s.Limit, strconv.FormatInt(s.Used, 10), strconv.FormatInt(s.Remaining, 10), spanText(s.ResetAfter),
		})
	}
	return writeTable(w, rows)
}
