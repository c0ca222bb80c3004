package embedded

import (
	"context"
	"log/slog"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/pseudonym"
	"github.com/weirlimit/weir/internal/reload"
	"github.com/weirlimit/weir/internal/saltfile"
)

// salts is what private values are named by.
type salts struct {
	ring func() *pseudonym.Ring
	file *reload.File[*pseudonym.Ring] // nil when nothing is followed
}

// salts decides where salts come from. Counters in memory are nobody else's, and
// get salts of their own; those of a store are shared with programs that know no
// more than this one does.
func (c *config) salts() (salts, error) {
	switch {
	case c.saltFile != "":
		file, err := saltfile.Follow(c.saltFile, func(l saltfile.Loaded) { saltsRead(c.log, l) })
		if err != nil {
			return salts{}, err
		}
		return salts{file.Get, file}, nil
	case c.store == nil:
		ring, err := saltfile.Own(weir.MicrosAt(time.Now()))
		if err != nil {
			return salts{}, err
		}
		return salts{ring: func() *pseudonym.Ring { return ring }}, nil
	}
	return salts{ring: pseudonym.Unsalted}, nil
}

// saltsRead logs what an operator has to know, and nothing that is secret.
func saltsRead(log *slog.Logger, l saltfile.Loaded) {
	if l.Warning != "" {
		log.Warn("others can read the salts", "problem", l.Warning)
	}
	for _, late := range l.Late {
		log.Warn("a salt was read after other programs may have begun to use it", "salt", late.ID, "from", late.From.Time().UTC())
	}
}

// followSalts keeps the salts current until ctx ends.
func (l *Limits) followSalts(ctx context.Context, file *reload.File[*pseudonym.Ring]) {
	file.Watch(ctx, func(err error) {
		if err != nil {
			l.log.Error("salts are wrong; those that were read before stay in force", "error", err)
		}
	})
}
