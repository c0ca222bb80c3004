package saltfile_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/pseudonym"
	"github.com/weirlimit/weir/internal/saltfile"
)

const (
	secretA = "aHVzaC1odXNoLWh1c2gtaHVzaC1odXNoLWh1c2gtMzI="
	secretB = "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LW5yMzI="
	secretC = "Y2FuYXJ5LWNhbmFyeS1jYW5hcnktY2FuYXJ5LW5yMzI="
)

const good = `overlap: 2s
retention: 10m
slots: ` + secretA + `
salts:
  - id: first
    from: 2026-11-15T12:00:00Z
    salt: ` + secretB + `
  - id: "2"
    from: 2026-11-15T12:00:00.5+01:00
    salt: ` + secretC + `
`

func TestParse(t *testing.T) {
	text := strings.Replace(good, "12:00:00.5+01:00", "14:00:00.5+01:00", 1)
	r, err := saltfile.Parse("salts.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c := r.Config()
	first := weir.MicrosAt(time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC))
	if c.Overlap != 2*weir.Second || c.Retention != 10*weir.Minute || string(c.Slots[:]) != "hush-hush-hush-hush-hush-hush-32" ||
		len(c.Salts) != 2 || c.Salts[0].ID != "first" || c.Salts[0].From != first || c.Salts[1].ID != "2" ||
		c.Salts[1].From != first+weir.Hour+weir.Second/2 || string(c.Salts[1].Secret[:]) != "canary-canary-canary-canary-nr32" {
		t.Errorf("read %+v", c)
	}
	again, err := saltfile.Parse("salts.yaml", saltfile.Text(r))
	if err != nil || len(again.Config().Salts) != 2 || again.Config().Salts[1] != c.Salts[1] || again.Config().Slots != c.Slots {
		t.Errorf("written and read again: %+v, %v", again, err)
	}
	short, err := saltfile.Parse("s", []byte("slots: "+secretA+"\nsalts: [{id: a, from: 2026-11-15T12:00:00Z, salt: "+secretB+"}]"))
	if err != nil || short.Overlap() != pseudonym.DefaultOverlap || short.Retention() != pseudonym.DefaultRetention {
		t.Errorf("defaults: %v, %v", short, err)
	}
}

// TestParseRefuses: each mistake is found, at its line, and no secret is said.
func TestParseRefuses(t *testing.T) {
	for _, tc := range []struct {
		from, to string // replaced in the good file
		place    string
		message  string
	}{
		{good, "", "salts.yaml:1", "is empty"},
		{good, "salts: [", "salts.yaml", "line 1"},
		{good, "[]", "salts.yaml:1", "want a mapping"},
		{good, strings.Repeat("#", 65<<10), "salts.yaml:1", "is larger than"},
		{"overlap:", "ovrlap:", "salts.yaml:1", "the file has a key that is not known"},
		{"overlap: 2s", "overlap: two", "salts.yaml:1", "overlap: is not a span"},
		{"overlap: 2s", "overlap: 2h", "salts.yaml:1", "overlap: 2h is outside"},
		{"retention: 10m", "retention: 9m", "salts.yaml:2", "retention: 9m is outside"},
		{"retention: 10m", "overlap: 2s", "salts.yaml:2", "overlap stands twice"},
		{"slots: " + secretA, "slots: " + secretA[:40], "salts.yaml:3", "slots: is not 32 bytes"},
		{"slots: " + secretA + "\n", "", "salts.yaml:1", "the file has no slots"},
		{"slots: " + secretA, "slots: " + strings.Repeat("A", 43) + "=", "salts.yaml:3", "slots: is all zeros"},
		{"slots: " + secretA, secretA + ": x", "salts.yaml:3", "the file has a key that is not known"},
		{"  - id: first\n    ", "  - ", "salts.yaml:5", "salts[0] has no id"},
		{"id: first", "id: ", "salts.yaml:5", "salts[0].id: want a text"},
		{"id: first", "id: a b", "salts.yaml:5", "salts[0].id: is not 1 to 64"},
		{`id: "2"`, "id: first", "salts.yaml:8", "salts[1].id: first is also that"},
		{"from: 2026-11-15T12:00:00Z", "from: today", "salts.yaml:6", "salts[0].from: is not an instant"},
		{"from: 2026-11-15T12:00:00Z", "from: 1926-11-15T12:00:00Z", "salts.yaml:6", "salts[0].from: is out of range"},
		{"x", "x", "salts.yaml:9", "salts[1].from: comes before the rotation"},
		{"salt: " + secretC, "salt: " + secretB, "salts.yaml:10", "salts[1].salt: is that of salts[0]"},
		{"salt: " + secretC, "salt: *x", "salts.yaml", "unknown anchor"},
		{"salt: " + secretC, "salt: [" + secretC + "]", "salts.yaml:10", "salts[1].salt: want a text"},
		{"salt: " + secretC, "salt: " + secretC + "\n    more: 1", "salts.yaml:11", "salts[1] has a key that is not known"},
		{good[strings.Index(good, "salts:"):], "salts: {}\n", "salts.yaml:4", "salts: want a list"},
		{good[strings.Index(good, "salts:"):], "salts: []\n", "salts.yaml:4", "salts: there is none"},
	} {
		text := strings.Replace(good, tc.from, tc.to, 1)
		_, err := saltfile.Parse("salts.yaml", []byte(text))
		e, ok := errors.AsType[*weir.Error](err)
		if !ok || e.Field != tc.place || !strings.Contains(e.Message, tc.message) {
			t.Errorf("%q: %v, want %s: %s", tc.to, err, tc.place, tc.message)
			continue
		}
		for _, secret := range []string{secretA[:20], secretB[:20], secretC[:20]} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error says a secret: %v", err)
			}
		}
	}
}

// FuzzParse: what is read can be written and read again, and is the same.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(strings.Replace(good, "12:00:00.5+01:00", "14:00:00.5+01:00", 1)))
	f.Add([]byte("slots: &a " + secretA + "\nsalts: [{id: a, from: 2026-11-15T12:00:00Z, salt: *a}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := saltfile.Parse("f", data)
		if err != nil {
			if e, ok := errors.AsType[*weir.Error](err); !ok || !strings.HasPrefix(e.Field, "f") {
				t.Errorf("an error without a place: %v", err)
			}
			return
		}
		again, err := saltfile.Parse("f", saltfile.Text(r))
		if err != nil {
			t.Fatalf("%v in\n%s", err, saltfile.Text(r))
		}
		if string(saltfile.Text(again)) != string(saltfile.Text(r)) {
			t.Errorf("%s\nbecame\n%s", saltfile.Text(r), saltfile.Text(again))
		}
	})
}
