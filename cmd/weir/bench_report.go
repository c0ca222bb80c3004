package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/weirlimit/weir/internal/bench"
)

// benchJSON is a result for other programs. Spans are in the unit of their name.
type benchJSON struct {
	API       string            `json:"api"`
	Addr      string            `json:"addr"`
	Loop      string            `json:"loop"` // open or closed
	Rate      int               `json:"rate"` // asked for; 0 in a closed loop
	Callers   int               `json:"callers"`
	Conns     int               `json:"conns"`
	TLS       bool              `json:"tls"`
	Warmup    float64           `json:"warmup_s"`
	Duration  float64           `json:"duration_s"` // as it was
	Decided   uint64            `json:"decided"`
	Allowed   uint64            `json:"allowed"`
	Denied    uint64            `json:"denied"`
	Failed    map[string]uint64 `json:"failed"` // by why
	Details   map[string]string `json:"failure_details,omitempty"`
	Gone      bool              `json:"server_gone,omitempty"` // at the end nothing was decided over any connection
	PerSecond float64           `json:"decisions_per_s"`
	Latency   benchLatency      `json:"latency_us"`
	CPU       []benchCPU        `json:"cpu"`
	Recorded  int               `json:"recorded,omitempty"`
}

type benchLatency struct {
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p99_9"`
	P9999 float64 `json:"p99_99"`
	Max   float64 `json:"max"`
}

type benchCPU struct {
	Name       string  `json:"name"`
	PID        int     `json:"pid"`
	Used       float64 `json:"used_ms"`
	PerRequest float64 `json:"us_per_request"`
}

func benchReport(w io.Writer, f *benchFlags, r *bench.Result, recorded int) error {
	if f.output == formatJSON {
		return writeJSON(w, benchResult(r, recorded))
	}
	return benchTable(w, r, recorded)
}

func benchResult(r *bench.Result, recorded int) *benchJSON {
	p := &r.Plan
	out := &benchJSON{
		API: string(p.API), Addr: p.Addr, Loop: loopOf(p), Rate: p.Rate, Callers: p.Callers, Conns: p.Conns, TLS: p.TLS != nil,
		Warmup: p.Warmup.Seconds(), Duration: r.Took.Seconds(),
		Decided: r.Decided(), Allowed: r.Allowed, Denied: r.Denied, Failed: r.Failed, Details: r.Details, Gone: r.Gone,
		PerSecond: r.Rate(), CPU: []benchCPU{}, Recorded: recorded,
		Latency: benchLatency{
			Mean: micros(r.Latency.Mean()), P50: micros(r.Latency.Quantile(0.5)), P90: micros(r.Latency.Quantile(0.9)),
			P99: micros(r.Latency.Quantile(0.99)), P999: micros(r.Latency.Quantile(0.999)),
			P9999: micros(r.Latency.Quantile(0.9999)), Max: micros(r.Latency.Max()),
		},
	}
	for _, c := range r.CPU {
		out.CPU = append(out.CPU, benchCPU{
			Name: c.Name, PID: c.PID, Used: micros(c.Used) / 1000, PerRequest: micros(c.PerRequest),
		})
	}
	return out
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func loopOf(p *bench.Plan) string {
	if p.Rate > 0 {
		return "open"
	}
	return "closed"
}

func benchTable(w io.Writer, r *bench.Result, recorded int) error {
	p := &r.Plan
	loop := fmt.Sprintf("closed loop of %d callers", p.Callers)
	conns := fmt.Sprint(p.Conns)
	if p.Rate > 0 {
		loop = fmt.Sprintf("open loop of %d/s", p.Rate)
		if p.API == bench.HTTP { // a caller who has nothing to send does not connect
			conns = "up to " + conns
		}
	}
	if _, err := fmt.Fprintf(w, "%s at %s, %s on %s connections, %s after %s of warm-up\n\n",
		p.API, p.Addr, loop, conns, r.Took.Round(time.Millisecond), p.Warmup); err != nil {
		return err
	}
	rows := [][]string{{"DECISIONS", "PER SECOND", "ALLOWED", "DENIED", "FAILED"}, {
		fmt.Sprint(r.Decided()), fmt.Sprintf("%.0f", r.Rate()), fmt.Sprint(r.Allowed), fmt.Sprint(r.Denied), fmt.Sprint(r.Failures()),
	}}
	if err := writeTable(w, rows); err != nil {
		return err
	}
	l := &r.Latency
	rows = [][]string{{"MEAN", "P50", "P90", "P99", "P99.9", "P99.99", "MAX"}, {
		shortSpan(l.Mean()), shortSpan(l.Quantile(0.5)), shortSpan(l.Quantile(0.9)), shortSpan(l.Quantile(0.99)),
		shortSpan(l.Quantile(0.999)), shortSpan(l.Quantile(0.9999)), shortSpan(l.Max()),
	}}
	if err := benchSection(w, rows); err != nil {
		return err
	}
	rows = [][]string{{"PROCESS", "PID", "CPU", "CPU PER REQUEST"}}
	for _, c := range r.CPU {
		rows = append(rows, []string{c.Name, fmt.Sprint(c.PID), c.Used.String(), fmt.Sprintf("%.2fµs", micros(c.PerRequest))})
	}
	if err := benchSection(w, rows); err != nil {
		return err
	}
	rows = [][]string{{"FAILURE", "REQUESTS", "THE FIRST"}}
	for name, n := range r.Failed {
		rows = append(rows, []string{name, fmt.Sprint(n), r.Details[name]})
	}
	slices.SortFunc(rows[1:], func(a, b []string) int { return slices.Compare(a, b) })
	if err := benchSection(w, rows); err != nil || recorded == 0 {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%d requests recorded\n", recorded)
	return err
}

// benchSection writes rows that have more than titles, after an empty line.
func benchSection(w io.Writer, rows [][]string) error {
	if len(rows) == 1 {
		return nil
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return writeTable(w, rows)
}

// shortSpan has three digits or so: a histogram knows no more.
func shortSpan(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(100 * time.Nanosecond).String()
}
