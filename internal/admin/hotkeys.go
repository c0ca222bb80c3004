package admin

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// HotKey is a counter that is asked for often.
type HotKey struct {
	Key   string  `json:"key"`  // its name in the store, with pseudonyms for private values; of a long one the beginning
	Rate  float64 `json:"rate"` // requests a second at this instance, at most
	Error float64 `json:"error"`
	Hot   bool    `json:"hot"`   // often enough to be leased
	Lease int64   `json:"lease"` // units that are taken at a time
}

// Numbers of keys that are shown.
const (
	usualHotKeys = 20
	mostHotKeys  = 100
)

// HotKeys is the page of the counters that are asked for most, the first n of
// which top returns, those first.
func HotKeys(top func(n int) []HotKey) Page {
	return Page{"GET /hotkeys", "the counters asked for most; ?n=50, ?format=json", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := usualHotKeys
		if text := r.FormValue("n"); text != "" {
			var err error
			if n, err = strconv.Atoi(text); err != nil || n < 1 || n > mostHotKeys {
				http.Error(w, fmt.Sprintf("n is not a number from 1 to %d", mostHotKeys), http.StatusBadRequest)
				return
			}
		}
		keys := top(n)
		switch format := r.FormValue("format"); {
		case format == "json" || format == "" && strings.Contains(r.Header.Get("Accept"), "application/json"):
			writeJSON(w, http.StatusOK, struct {
				Keys []HotKey `json:"keys"`
			}{append([]HotKey{}, keys...)})
		case format == "" || format == "text":
			plain(w)
			say(w, hotKeysText(keys))
		default:
			http.Error(w, "format is not text or json", http.StatusBadRequest)
		}
	})}
}

// hotKeysText has a key a line. Keys are quoted: callers choose parts of them.
func hotKeysText(keys []HotKey) string {
	if len(keys) == 0 {
		return "no counter is asked for often, or they are not watched: that needs --redis\n"
	}
	var b strings.Builder
	for _, k := range keys {
		mark := ""
		if k.Hot {
			mark = " hot"
		}
		if k.Lease > 0 {
			mark += fmt.Sprintf(", leased by %d", k.Lease)
		}
		fmt.Fprintf(&b, "%.0f/s (up to %.0f less) %q%s\n", k.Rate, k.Error, k.Key, mark)
	}
	return b.String()
}
