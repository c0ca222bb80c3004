package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/pflag"
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/pseudonym"
	"github.com/weirlimit/weir/internal/saltfile"
	"github.com/weirlimit/weir/policy"
)

// saltFlags say which values are private, and what they are named by.
type saltFlags struct {
	file    string
	private []string
}

func (f *saltFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.file, "salt-file", "",
		"`file` of the salts that private values are hashed with; the same for all instances: see weir salt")
	flags.StringSliceVar(&f.private, "private", policy.DefaultPrivate(),
		"`names` of the dimensions and descriptor entries whose values are hashed before they become a key")
	fromEnv(flags, "salt-file", "WEIR_SALT_FILE")
	fromEnv(flags, "private", "WEIR_PRIVATE")
}

// read reads the salts once; without a file they are the well-known ones.
func (f *saltFlags) read() (*pseudonym.Ring, error) {
	if f.file == "" {
		return pseudonym.Unsalted(), nil
	}
	ring, err := readSalts(f.file)
	if err != nil {
		return nil, fmt.Errorf("--salt-file: %w", err)
	}
	return ring, nil
}

func readSalts(path string) (*pseudonym.Ring, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, missingSalts(path, err)
	}
	return saltfile.Parse(path, data)
}

// missingSalts says how to get a file that is not there.
func missingSalts(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w (weir salt new %s makes one)", err, path)
	}
	return err
}

// loadSalts decides what private values are named by. Counters in memory are
// nobody else's, and get salts of their own; those in Redis are shared with
// instances that know no more than this one does.
func (s *server) loadSalts() error {
	switch {
	case s.flags.salt.file != "":
		file, err := saltfile.Follow(s.flags.salt.file, s.saltsRead)
		if err != nil {
			return fmt.Errorf("--salt-file: %w", missingSalts(s.flags.salt.file, err))
		}
		s.ring = file.Get
		s.followed = append(s.followed, followed{"salts", file})
	case s.flags.redis.addrs == "":
		ring, err := saltfile.Own(weir.MicrosAt(time.Now()))
		if err != nil {
			return err
		}
		s.ring = func() *pseudonym.Ring { return ring }
	default:
		s.ring = pseudonym.Unsalted
		if len(s.flags.salt.private) > 0 {
			s.log.Warn("private values are hashed with a salt that everybody knows: who reads the keys in Redis finds addresses and users by trying",
				"hint", "make salts with: weir salt new salts.yaml, and give all instances --salt-file salts.yaml")
		}
	}
	return nil
}

// saltsRead says what was read, and nothing that is secret.
func (s *server) saltsRead(l saltfile.Loaded) {
	if l.Warning != "" {
		s.log.Warn("others can read the salts", "hint", l.Warning)
	}
	c, now := l.Ring.Config(), time.Now()
	for _, late := range l.Late {
		s.log.Warn("a salt was read after other instances may have begun to use it: counters may have been counted in two until now",
			"salt", late.ID, "from", late.From.Time().UTC(), "late_by", now.Sub((late.From - c.Overlap).Time()).Round(time.Second),
			"hint", "rotate with a longer --in, and see that the file reaches all instances meanwhile")
	}
	phase := l.Ring.At(weir.MicrosAt(now))
	s.log.Info("salts loaded", "in_force", c.Salts[phase.Key].ID, "salts", len(c.Salts),
		"overlap", c.Overlap.Duration(), "retention", c.Retention.Duration())
	if last := &c.Salts[len(c.Salts)-1]; last.From > weir.MicrosAt(now) {
		s.log.Info("a salt is to come into force", "salt", last.ID, "from", last.From.Time().UTC())
	}
}

// checkRetention warns of limits that a rotation of the salts could reset.
func (s *server) checkRetention(set *policy.Set) {
	if s.flags.salt.file == "" {
		return
	}
	if longest, rule := set.LongestPrivate(); rule != nil && longest > s.ring().Retention() {
		s.log.Warn("a limit by a private value counts for longer than the salts' retention: rotating them may reset it",
			"rule", rule.ID, "counts_for", longest.Duration(), "retention", s.ring().Retention().Duration(),
			"hint", "raise retention in the salt file of all instances")
	}
}
