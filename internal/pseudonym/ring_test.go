package pseudonym_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/pseudonym"
)

func TestNewRefuses(t *testing.T) {
	const rotation = 3*weir.Minute + weir.Hour // what one takes, overlaps and all
	good := config(0, 10*weir.Minute, 10*weir.Minute+rotation)
	ring(t, good)
	for field, change := range map[string]func(*pseudonym.Config){
		"overlap":       func(c *pseudonym.Config) { c.Overlap = weir.Second - 1 },
		"retention":     func(c *pseudonym.Config) { c.Retention = weir.Year + weir.Second },
		"salts":         func(c *pseudonym.Config) { c.Salts = nil },
		"salts[0].id":   func(c *pseudonym.Config) { c.Salts[0].ID = "a b" },
		"salts[1].id":   func(c *pseudonym.Config) { c.Salts[1].ID = "a" },
		"salts[0].from": func(c *pseudonym.Config) { c.Salts[0].From = -1 },
		"salts[2].salt": func(c *pseudonym.Config) { c.Salts[2].Secret = c.Salts[0].Secret },
		"salts[1].from": func(c *pseudonym.Config) { c.Salts[1].From = c.Salts[0].From + 2*weir.Minute - 1 },
		"salts[2].from": func(c *pseudonym.Config) { c.Salts[2].From-- },
	} {
		c := good
		c.Salts = append([]pseudonym.Salt(nil), good.Salts...)
		change(&c)
		_, err := pseudonym.New(c)
		if e, ok := errors.AsType[*weir.Error](err); !ok || e.Code != weir.CodeInvalid || e.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	many := config()
	for i := range pseudonym.MaxSalts + 1 {
		many.Salts = append(many.Salts, pseudonym.Salt{ID: fmt.Sprint(i), From: weir.Micros(i) * weir.Day, Secret: secret(byte(i))})
	}
	if _, err := pseudonym.New(many); err == nil {
		t.Error("too many salts are taken")
	}
}

func TestDefaults(t *testing.T) {
	r := ring(t, pseudonym.Config{Salts: config(0).Salts})
	if r.Overlap() != weir.Minute || r.Retention() != 31*weir.Day {
		t.Errorf("overlap %d, retention %d", r.Overlap(), r.Retention())
	}
}

// TestSecretsDoNotPrint: whatever way a ring, or what it was made of, gets into
// a log, its secrets do not.
func TestSecretsDoNotPrint(t *testing.T) {
	c := config(0)
	c.Salts[0].Secret = pseudonym.Secret([]byte("hush-hush-hush-hush-hush-hush-32"))
	r := ring(t, c)
	bytes := fmt.Sprint([]byte("hush"))
	for _, v := range []any{r, r.Config().Salts[0], r.Config(), &c, c.Salts[0].Secret, []any{r}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q", "%d"} {
			text := fmt.Sprintf(verb, v)
			if strings.Contains(text, "hush") || strings.Contains(text, bytes[1:len(bytes)-1]) || strings.Contains(text, "68757368") {
				t.Errorf("%s of %T prints %q", verb, v, text)
			}
		}
	}
	data, err := json.Marshal(c)
	if err != nil || strings.Contains(string(data), "104") || strings.Contains(string(data), "aHVz") {
		t.Errorf("JSON %s, %v", data, err)
	}
}
