package pseudonym_test

import (
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/pseudonym"
)

// epoch is when the first salt of the tests comes into force.
const epoch = 1_800_000_000 * weir.Second

// secret is a secret that begins with b, and counts on from there.
func secret(b byte) (s pseudonym.Secret) {
	for i := range s {
		s[i] = b + byte(i)
	}
	return s
}

// config has a salt for each of the instants, which count from epoch.
func config(froms ...weir.Micros) pseudonym.Config {
	c := pseudonym.Config{Slots: secret(100), Overlap: weir.Minute, Retention: weir.Hour}
	for i, from := range froms {
		c.Salts = append(c.Salts, pseudonym.Salt{ID: string(rune('a' + i)), From: epoch + from, Secret: secret(byte(i))})
	}
	return c
}

func ring(t testing.TB, c pseudonym.Config) *pseudonym.Ring {
	t.Helper()
	r, err := pseudonym.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
