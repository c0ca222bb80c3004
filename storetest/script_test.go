package storetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
)

// TestScriptsReadBack holds that a history that failed can be pasted into a
// vector as it was printed.
func TestScriptsReadBack(t *testing.T) {
	for i := range profiles {
		for _, s := range generate(&profiles[i], 7) {
			text := s.String()
			back, err := parseStep(text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if back.String() != text {
				t.Fatalf("%q reads back as %q", text, back.String())
			}
		}
	}
}

func TestParseStepErrors(t *testing.T) {
	for line, want := range map[string]string{
		"wait 1s":                        "no such step",
		"limit g 3/s":                    "want limit NAME = LIMIT",
		"limit g = 0/s":                  "count",
		"at noon":                        "invalid duration",
		"at 1x2d":                        "span",
		"entry a g":                      "want KEY LIMIT COST",
		"entry a g one":                  "cost",
		"entry a g 1 softly":             "no such mode",
		"entry a g 1 group=many":         "group",
		"entry a g 1 first=b":            "no such twinning",
		"entry a g 1 next=":              "want a key",
		"times 0 entry a g 1":            "number from 1",
		"times 3 read a g":               "only an entry",
		"read a":                         "want read KEY LIMIT",
		"reset":                          "want reset KEY",
		"entry a g 1 + + b g 1":          "want KEY LIMIT COST",
		"entry a g 1 ; ; b g 1":          "want KEY LIMIT COST",
		"entry a g 99999999999999999999": "cost",
	} {
		if _, err := parseStep(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one that says %q", line, err, want)
		}
	}
	if _, err := parseVector("v", "# first\n  admit\n"); err == nil {
		t.Error("an answer below no step is read")
	}
	if _, err := newOracle("").play(&step{verb: verbEntry, times: 1, entries: []entry{{charges: []charge{{key: "a", limit: "g"}}}}}); err == nil {
		t.Error("a limit without a definition is used")
	}
}

func TestSpans(t *testing.T) {
	for text, want := range map[string]weir.Micros{
		"1us": 1, "0.333334s": 333334, "1d": weir.Day, "365d39.999999s": weir.Year + 40*weir.Second - 1, "1h30m": 90 * weir.Minute,
	} {
		if got, err := parseSpan(text); err != nil || got != want {
			t.Errorf("parseSpan(%q) = %d, %v; want %d", text, got, err, want)
		}
		if back, err := parseSpan(spanText(want)); err != nil || back != want {
			t.Errorf("spanText(%d) = %q reads back as %d, %v", want, spanText(want), back, err)
		}
	}
	if got := spanText(-1500 * weir.Millisecond); got != "-1.5s" {
		t.Errorf("spanText of -1.5 s = %q", got)
	}
}

func TestGenerateIsRepeatable(t *testing.T) {
	text := func(seed uint64) string {
		var b strings.Builder
		for _, s := range generate(&profiles[len(profiles)-1], seed) {
			b.WriteString(s.String() + "\n")
		}
		return b.String()
	}
	first := text(3)
	if again := text(3); first != again {
		t.Error("one seed gives two scripts")
	}
	if first == text(4) {
		t.Error("two seeds give one script")
	}
}

func TestShrink(t *testing.T) {
	// Fails as long as it has x and, after it, an entry with charges of y.
	fails := func(steps []step) bool {
		x := slices.IndexFunc(steps, func(s step) bool { return s.name == "x" })
		return x >= 0 && slices.ContainsFunc(steps[x:], func(s step) bool {
			return slices.ContainsFunc(s.entries, func(e entry) bool { return e.id == "y" })
		})
	}
	steps := make([]step, 40)
	for i := range steps {
		steps[i] = step{verb: verbReset, name: "other"}
	}
	steps[11].name = "x"
	steps[30] = step{verb: verbEntry, times: 1, entries: []entry{{id: "a"}, {id: "y"}, {id: "b"}}}
	got := shrink(steps, fails)
	if len(got) != 2 || got[0].name != "x" || len(got[1].entries) != 1 || got[1].entries[0].id != "y" {
		t.Errorf("shrunk to %d steps: %v", len(got), got)
	}
}
