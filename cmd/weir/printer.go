package main

import (
	"encoding/json"
	"io"
	"time"

	"github.com/weirlimit/weir"
)

// printer shows a trial as it goes.
type printer interface {
	begin(t *trial, store string) error
	attempt(a attempt) error
	// waits is called before a wait for a retry-after, or with waiting false
	// instead of one that would take too long.
	waits(d time.Duration, waiting bool) error
	end() error
}

func newPrinter(w io.Writer, format string) (printer, error) {
	switch format {
	case "table":
		return &tablePrinter{w: w}, nil
	case "json":
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return &jsonPrinter{enc: enc}, nil
	}
	return nil, usage("use table or json", "--output: unknown format %q", format)
}

// jsonPrinter writes a line per request, for other programs.
type jsonPrinter struct {
	enc   *json.Encoder
	key   string
	store string
}

// jsonAttempt is one line. Spans are in microseconds, as Weir counts them.
type jsonAttempt struct {
	Request    int          `json:"request"`
	Key        string       `json:"key"`
	Store      string       `json:"store"`
	Verdict    string       `json:"verdict"`
	Reason     string       `json:"reason"`
	Limit      string       `json:"limit"` // the one that binds
	Remaining  int64        `json:"remaining"`
	ResetAfter weir.Micros  `json:"reset_after_us"`
	RetryAfter *weir.Micros `json:"retry_after_us"` // null: never
	Delay      weir.Micros  `json:"delay_us"`
	Waited     weir.Micros  `json:"waited_us"` // before this request, as told
	DecidedIn  float64      `json:"decided_in_us"`
}

func (p *jsonPrinter) begin(t *trial, store string) error {
	p.key, p.store = t.key, store
	return nil
}

func (p *jsonPrinter) attempt(a attempt) error {
	d := &a.decision
	line := jsonAttempt{
		Request: a.n, Key: p.key, Store: p.store,
		Verdict: d.Verdict.String(), Reason: d.Reason.String(), Limit: d.Limit.String(),
		Remaining: d.Remaining, ResetAfter: d.ResetAfter, RetryAfter: &d.RetryAfter, Delay: d.Delay,
		Waited:    weir.MicrosOf(a.waited),
		DecidedIn: float64(a.took) / float64(time.Microsecond),
	}
	if d.RetryAfter == weir.Never {
		line.RetryAfter = nil
	}
	return p.enc.Encode(line)
}

func (p *jsonPrinter) waits(time.Duration, bool) error { return nil }
func (p *jsonPrinter) end() error                      { return nil }
