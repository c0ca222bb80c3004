package contest

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/weirlimit/weir/bench/internal/measure"
)

// Result is a whole run.
type Result struct {
	Machine   measure.Machine
	Date      time.Time
	Command   string
	Peer      string // version of envoyproxy/ratelimit
	Redis     string // version
	Quick     bool
	Rounds    int
	Seed      uint64
	Seconds   float64 // that a turn is measured
	Scenarios []Table
	Growth    []Curve
	Latency   []Curve // over requests a second
	Answers   *Comparison
	Libraries *Libraries
}

// Table is one scenario.
type Table struct {
	Name, Note string
	Open       bool
	Rows       []Row
}

// Row is one system, with a sample for each round.
type Row struct {
	System  string
	Ours    bool
	Against string `json:",omitempty"` // the system that it is held against
	Samples []Sample
}

// Sample is one turn.
type Sample struct {
	Rate      float64 // decisions a second
	P50       float64 // milliseconds
	P99       float64
	P999      float64
	Server    float64 // microseconds of processor time a decision
	RedisCPU  float64
	Generator float64
	OK        uint64
	Denied    uint64
	Failed    uint64
	Why       string  `json:",omitempty"` // of those that failed
	Late      float64 // share of answers later than 3 ms
	TimerP50  float64 // how late a plain timer was meanwhile, milliseconds; of an open loop
	TimerP99  float64
	TimerP999 float64
	Refused   string             `json:",omitempty"` // why it did not measure what it should have
	Sources   map[string]float64 `json:",omitempty"` // Weir's own count of where decisions came from, as shares
}

// Refused lists why samples did not measure what they should have.
func Refused(samples []Sample) (why []string) {
	for _, s := range samples {
		if s.Refused != "" {
			why = append(why, s.Refused)
		}
	}
	return why
}

// CPU is what a decision costs, the generator aside.
func (s Sample) CPU() float64 { return s.Server + s.RedisCPU }

// Curve is what a decision costs as something grows.
type Curve struct {
	Name, Note string
	System     string
	Unit       string  // of X
	Capacity   float64 `json:",omitempty"` // decisions a second, where X is requests a second
	Requests   int64   `json:",omitempty"` // of a sample, where it is the same of all
	Peer       bool    `json:",omitempty"` // of the peer: not judged
	Points     []Point
}

// Point is one size.
type Point struct {
	X       float64
	Share   float64 `json:",omitempty"` // of the capacity, where X is requests a second
	Samples []Sample
}

// Of lists one figure of all samples.
func Of(samples []Sample, f func(Sample) float64) []float64 {
	var out []float64
	for _, s := range samples {
		out = append(out, f(s))
	}
	return out
}

// Row finds a system.
func (t Table) Row(system string) (Row, bool) {
	for _, r := range t.Rows {
		if r.System == system {
			return r, true
		}
	}
	return Row{}, false
}

// Judged is the row of ours that is held to the bars: the last.
func (t Table) Judged() (row Row, ok bool) {
	for _, r := range t.Rows {
		if r.Ours {
			row, ok = r, true
		}
	}
	return row, ok
}

// Table finds a scenario.
func (r *Result) Table(name string) (Table, bool) {
	for _, t := range r.Scenarios {
		if t.Name == name {
			return t, true
		}
	}
	return Table{}, false
}

// Libraries is what was measured in this process.
type Libraries struct {
	Modules []measure.Module
	Memory  measure.MemoryResult
	Engine  []measure.SpeedRow // engine.Check
}

// Read reads what Write wrote.
func Read(r io.Reader) (*Result, error) {
	var out Result
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&out); err != nil {
		return nil, fmt.Errorf("read result: %w", err)
	}
	return &out, nil
}

// Write writes the result as JSON.
func (r *Result) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}
