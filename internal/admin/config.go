package admin

import (
	"net/http"
	"time"

	"github.com/weirlimit/weir/policy"
)

// Config is the configuration in force, and how its files stand.
type Config struct {
	Version  string    `json:"version"` // empty when nothing is loaded
	Serial   uint32    `json:"serial"`
	Rules    int       `json:"rules"`
	LoadedAt time.Time `json:"loaded_at,omitzero"`
	// Rejected: the last load was refused whole, and what was in force stays.
	Rejected bool      `json:"rejected"`
	Files    []File    `json:"files"`
	Problems []Problem `json:"problems"` // of all files, and of none
	// CacheError is why what is in force is not kept for the next start.
	CacheError string `json:"cache_error,omitempty"`
}

// File is one file of the configuration.
type File struct {
	Name     string    `json:"name"`
	State    string    `json:"state"` // current, stale or left_out
	SHA256   string    `json:"sha256,omitempty"`
	LoadedAt time.Time `json:"loaded_at,omitzero"`
	// Since is when what is in force ceased to be what the file says.
	Since time.Time `json:"since,omitzero"`
}

// Problem is a policy.Problem on the wire.
type Problem struct {
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Severity string `json:"severity"` // error or warning
	Code     string `json:"code"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
}

// Problems turns the problems of a load into those of a Config.
func Problems(ps []policy.Problem) []Problem {
	out := make([]Problem, len(ps))
	for i, p := range ps {
		out[i] = Problem{
			File: p.At.File, Line: p.At.Line, Column: p.At.Column,
			Severity: "error", Code: p.Code, Message: p.Message, Hint: p.Hint,
		}
		if p.Warning {
			out[i].Severity = "warning"
		}
	}
	return out
}

func config(get func() Config) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c := get()
		if c.Files == nil {
			c.Files = []File{} // a list in JSON, not null
		}
		if c.Problems == nil {
			c.Problems = []Problem{}
		}
		writeJSON(w, http.StatusOK, c)
	})
}
