// Pgomerge makes one profile of several, to compile with: scripts/pgo. Of where
// and when they were taken nothing is left in it.
//
//	pgomerge OUT PROFILE...
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/google/pprof/profile"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pgomerge:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return errors.New("want a file to write and profiles to read")
	}
	profiles := make([]*profile.Profile, 0, len(args)-1)
	for _, name := range args[1:] {
		p, err := read(name)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		profiles = append(profiles, p)
	}
	merged, err := profile.Merge(profiles)
	if err != nil {
		return err
	}
	merged.TimeNanos, merged.Comments = 0, nil
	for _, m := range merged.Mapping {
		m.File, m.BuildID = "", ""
	}
	// The compiler goes by names and lines.
	for _, l := range merged.Location {
		l.Address = 0
	}
	return write(args[0], merged.Compact())
}

func read(name string) (*profile.Profile, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	p, err := profile.Parse(f)
	if err != nil {
		return nil, err
	}
	if len(p.Sample) == 0 {
		return nil, errors.New("nothing ran in it")
	}
	return p, nil
}

func write(name string, p *profile.Profile) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(p.Write(f), f.Close())
}
