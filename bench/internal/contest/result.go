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
	Status    int `json:",omitempty"` // grpc-status of one that failed
	Unsent    uint64
	Sources   map[string]float64 `json:",omitempty"` // Weir's own count of where decisions came from, as shares
}

// CPU is what a decision costs, the generator aside.
func (s Sample) CPU() float64 { return s.Server + s.RedisCPU }

// Curve is what a decision costs as something grows.
type Curve struct {
	Name, Note string
	System     string
	Unit       string // of X
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

// Write writes the result as JSON.
func (r *Result) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}
