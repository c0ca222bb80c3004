package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/weirlimit/weir"
)

// Bounds on a request; those of the gRPC API are the same.
const (
	maxBody       = 64 << 10
	maxDimensions = 16
	maxNameBytes  = 256
	maxValueBytes = 4 << 10
	maxTextBytes  = 32 << 10 // of all names and values
	defaultDomain = "default"
)

// checkRequest is the body of a check, and of a release.
type checkRequest struct {
	Domain     string     `json:"domain"`
	Policy     string     `json:"policy"`
	Dimensions dimensions `json:"dimensions"`
	Cost       *int64     `json:"cost"`
	RequestID  string     `json:"request_id"`
	Mode       string     `json:"mode"` // charge, peek, refund, spent
	TimeoutMS  int64      `json:"timeout_ms"`
}

// dimensions are read strictly: of a name that stands twice, the last would
// silently count.
type dimensions map[string]string

// UnmarshalJSON implements json.Unmarshaler.
func (d *dimensions) UnmarshalJSON(text []byte) error {
	var all map[string]string
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	names := -1 // the opening brace is none
	for {
		if _, err := dec.Token(); err != nil {
			break // the end: it was parsed before
		}
		names++
	}
	if names = (names - 1) / 2; all != nil && names != len(all) || *d != nil {
		return errors.New("a dimension stands twice")
	}
	*d = all
	return nil
}

// checkResponse is the body of an answer.
type checkResponse struct {
	Allowed       bool   `json:"allowed"`
	Reason        string `json:"reason"`
	Source        string `json:"source"`
	Rule          string `json:"rule,omitempty"`
	Limit         string `json:"limit,omitempty"`
	Remaining     int64  `json:"remaining"`
	ResetAfterUS  int64  `json:"reset_after_us"`
	RetryAfterUS  *int64 `json:"retry_after_us"` // null: it can never pass
	DelayUS       int64  `json:"delay_us,omitempty"`
	PolicyVersion string `json:"policy_version"`
	Replayed      bool   `json:"replayed,omitempty"`
}

// read parses a body strictly: a misspelt field would otherwise be a limit that
// silently does not apply.
func read(w http.ResponseWriter, r *http.Request, in *checkRequest) *weir.Error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return invalid("body", fmt.Sprintf("is not readable or larger than %d bytes", maxBody))
	}
	if !utf8.Valid(body) {
		return invalid("body", "is not UTF-8") // values that are not would all become one
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(in); err != nil {
		return &weir.Error{
			Code: weir.CodeInvalid, Field: "body", Message: "is not a check", Err: err,
			Hint: `for example {"dimensions": {"tenant": "acme"}}`,
		}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return invalid("body", "has something after the check")
	}
	return nil
}

// request translates what was read.
func (in *checkRequest) request(now time.Time) (*weir.Request, *weir.Error) {
	out := &weir.Request{Domain: in.Domain, Policy: in.Policy, Cost: 1, ID: in.RequestID}
	if out.Domain == "" {
		out.Domain = defaultDomain
	}
	switch {
	case len(out.Domain) > maxNameBytes:
		return nil, invalid("domain", fmt.Sprintf("has at most %d bytes", maxNameBytes))
	case len(out.Policy) > maxNameBytes:
		return nil, invalid("policy", fmt.Sprintf("has at most %d bytes", maxNameBytes))
	case len(in.Dimensions) > maxDimensions:
		return nil, invalid("dimensions", fmt.Sprintf("%d are more than %d", len(in.Dimensions), maxDimensions))
	case len(in.RequestID) > weir.MaxIDBytes:
		return nil, invalid("request_id", fmt.Sprintf("has at most %d bytes", weir.MaxIDBytes))
	case in.TimeoutMS < 0:
		return nil, invalid("timeout_ms", "is below 0")
	}
	if in.TimeoutMS > 0 {
		out.Deadline = now.Add(time.Duration(min(in.TimeoutMS, 60_000)) * time.Millisecond)
	}
	d, size := weir.Descriptor{}, 0
	for name, value := range in.Dimensions {
		if size += len(name) + len(value); size > maxTextBytes {
			return nil, invalid("dimensions", fmt.Sprintf("names and values have more than %d bytes together", maxTextBytes))
		}
		if name == "" || len(name) > maxNameBytes || len(value) > maxValueBytes {
			return nil, invalid("dimensions", fmt.Sprintf("a name has 1 to %d bytes, a value at most %d", maxNameBytes, maxValueBytes))
		}
		d.Pairs = append(d.Pairs, weir.Pair{Name: name, Value: value})
	}
	slices.SortFunc(d.Pairs, func(a, b weir.Pair) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	if in.Cost != nil {
		if *in.Cost < 0 {
			return nil, invalid("cost", fmt.Sprintf("%d is below 0", *in.Cost))
		}
		d.Cost, d.HasCost = *in.Cost, true
	}
	switch in.Mode {
	case "", "charge":
	case "peek":
		d.Cost, d.HasCost = 0, true
	case "refund":
		d.Refund = true
	case "spent":
		d.Spent = true
	default:
		return nil, &weir.Error{Code: weir.CodeInvalid, Field: "mode", Message: "no such mode: " + in.Mode, Hint: "charge, peek, refund or spent"}
	}
	out.Descriptors = []weir.Descriptor{d}
	return out, nil
}

func response(d *weir.Decision) checkResponse {
	out := checkResponse{
		Allowed: d.Allowed(), Reason: d.Reason.String(), Source: d.Source.String(), Rule: d.Rule,
		Remaining: d.Remaining, ResetAfterUS: int64(d.ResetAfter), DelayUS: int64(d.Delay),
		PolicyVersion: d.PolicyVersion, Replayed: d.Replayed,
	}
	if d.Limit.Count > 0 {
		out.Limit = d.Limit.String()
	}
	if d.RetryAfter != weir.Never {
		retry := int64(d.RetryAfter)
		out.RetryAfterUS = &retry
	}
	return out
}

func invalid(field, message string) *weir.Error {
	return &weir.Error{Code: weir.CodeInvalid, Field: field, Message: message}
}
