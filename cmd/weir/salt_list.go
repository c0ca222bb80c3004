package main

import (
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/pseudonym"
)

func newSaltList(sys system) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "list FILE",
		Short: "List the salts, and what each is for now",
		Long: `List says which salt is in force, which is to come, and until when old ones are
needed. It never prints a salt.

  next         is to come into force
  in force     names counters
  kept         names counters that nobody has touched since
  not needed   names nothing any more; weir salt rotate removes it`,
		Example: `  weir salt list salts.yaml
  weir salt list -o json salts.yaml`,
		Args: oneFile,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			ring, err := readSalts(args[0])
			if err != nil {
				return err
			}
			return writeSalts(sys.out, ring, weir.MicrosAt(time.Now()), output)
		},
	}
	addOutput(cmd, &output)
	return cmd
}

// listedSalt is a salt without its bytes.
type listedSalt struct {
	ID    string `json:"id"`
	From  string `json:"from"`
	State string `json:"state"`
	Until string `json:"needed_until,omitempty"` // when another follows
}

func listSalts(ring *pseudonym.Ring, now weir.Micros) []listedSalt {
	var out []listedSalt
	current := ring.At(now).Key
	for i, s := range ring.Config().Salts {
		l := listedSalt{ID: s.ID, From: timeText(s.From), State: "next"}
		until, followed := ring.NeededUntil(i)
		if followed {
			l.Until = timeText(until)
		}
		switch {
		case i == current:
			l.State = "in force"
		case i < current && now < until:
			l.State = "kept"
		case i < current:
			l.State = "not needed"
		}
		out = append(out, l)
	}
	return out
}

func writeSalts(w io.Writer, ring *pseudonym.Ring, now weir.Micros, format string) error {
	list := listSalts(ring, now)
	if format == formatJSON {
		return writeJSON(w, struct {
			Overlap   weir.Micros  `json:"overlap_us"`
			Retention weir.Micros  `json:"retention_us"`
			Salts     []listedSalt `json:"salts"`
		}{ring.Overlap(), ring.Retention(), list})
	}
	rows := [][]string{{"SALT", "FROM", "STATE", "NEEDED UNTIL"}}
	for _, s := range list {
		if s.Until == "" {
			s.Until = "-"
		}
		rows = append(rows, []string{s.ID, s.From, s.State, s.Until})
	}
	return writeTable(w, rows)
}
