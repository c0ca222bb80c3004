package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/weirlimit/weir/internal/doctor"
)

// diagnosis is what doctor found.
type diagnosis struct{ findings []doctor.Finding }

// text writes the findings for people: what is alike of several nodes on one
// line, and what to do below what is wrong.
func (d *diagnosis) text(w io.Writer) error {
	only := d.onlyNode()
	if only != "" {
		if _, err := fmt.Fprintf(w, "redis at %s\n\n", only); err != nil {
			return err
		}
	}
	for _, r := range d.merged() {
		line := fmt.Sprintf("%-7s  %-13s  %s", r.Status, r.Check, plain(r.Seen))
		if where := r.where(); where != only {
			line += "  [" + where + "]"
		}
		line += "\n"
		if r.Do != "" {
			line += fmt.Sprintf("%7s  %13s  -> %s\n", "", "", plain(r.Do))
		}
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\n%s\n", d.tally())
	return err
}

// onlyNode is the node that every finding is about, "" if they differ.
func (d *diagnosis) onlyNode() string {
	for _, f := range d.findings {
		if f.Node != d.findings[0].Node {
			return ""
		}
	}
	return d.findings[0].Node
}

// row is a finding, and all the nodes it was made at.
type row struct {
	doctor.Finding
	nodes []string
}

// manyNodes is from where a line says how many nodes rather than which, if all
// is well with them.
const manyNodes = 3

func (r *row) where() string {
	if len(r.nodes) >= manyNodes && r.Status == doctor.OK {
		return counted(len(r.nodes), "node")
	}
	return strings.Join(r.nodes, ", ")
}

// merged puts findings that differ in their node only into one row, where the
// first of them is.
func (d *diagnosis) merged() []row {
	var rows []row
	at := map[doctor.Finding]int{}
	for _, f := range d.findings {
		node := f.Node
		f.Node = ""
		i, ok := at[f]
		if !ok {
			i = len(rows)
			at[f] = i
			rows = append(rows, row{Finding: f})
		}
		if node != "" {
			rows[i].nodes = append(rows[i].nodes, node)
		}
	}
	return rows
}

// tally counts the findings in words.
func (d *diagnosis) tally() string {
	n := d.counts()
	var parts []string
	if n[doctor.Fail] > 0 {
		parts = append(parts, fmt.Sprintf("%d must change", n[doctor.Fail]))
	}
	if n[doctor.Warn] > 0 {
		parts = append(parts, counted(n[doctor.Warn], "warning"))
	}
	if n[doctor.Unknown] > 0 {
		parts = append(parts, fmt.Sprintf("%d unknown", n[doctor.Unknown]))
	}
	if len(parts) == 0 {
		parts = append(parts, "nothing to change")
	}
	return counted(len(d.findings), "check") + ": " + strings.Join(parts, ", ")
}

func (d *diagnosis) counts() map[doctor.Status]int {
	n := map[doctor.Status]int{}
	for i := range d.findings {
		n[d.findings[i].Status]++
	}
	return n
}

// diagnosisJSON is the findings for other programs, each node's by itself.
type diagnosisJSON struct {
	Status   doctor.Status `json:"status"` // the worst
	Fail     int           `json:"fail"`
	Warn     int           `json:"warn"`
	Unknown  int           `json:"unknown"`
	OK       int           `json:"ok"`
	Findings []findingJSON `json:"findings"`
}

type findingJSON struct {
	Check  string        `json:"check"`
	Node   string        `json:"node,omitempty"` // none: the arrangement as a whole
	Status doctor.Status `json:"status"`
	Seen   string        `json:"seen"`
	Do     string        `json:"do,omitempty"`
}

func (d *diagnosis) json() diagnosisJSON {
	n := d.counts()
	out := diagnosisJSON{
		Status: doctor.Worst(d.findings), Findings: []findingJSON{},
		Fail: n[doctor.Fail], Warn: n[doctor.Warn], Unknown: n[doctor.Unknown], OK: n[doctor.OK],
	}
	for _, f := range d.findings {
		out.Findings = append(out.Findings, findingJSON(f))
	}
	return out
}
