package saltfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/pseudonym"
)

// Text writes r the way Parse reads it.
func Text(r *pseudonym.Ring) []byte {
	var b bytes.Buffer
	c := r.Config()
	b.WriteString("# The salts of weir. Who has them can tell whose counters are whose: keep them\n" +
		"# secret, and give every instance the same. Rotate them with: weir salt rotate\n")
	fmt.Fprintf(&b, "overlap: %s\nretention: %s\nslots: %s\nsalts:\n",
		spanText(c.Overlap), spanText(c.Retention), secretText.EncodeToString(c.Slots[:]))
	for i := range c.Salts {
		s := &c.Salts[i]
		fmt.Fprintf(&b, "  - id: %q\n    from: %s\n    salt: %s\n", s.ID, stamp(s.From), secretText.EncodeToString(s.Secret[:]))
	}
	return b.Bytes()
}

// spanText is weir.WindowText with a number always: a lone m reads oddly here.
func spanText(span weir.Micros) string {
	text := weir.WindowText(span)
	if len(text) == 1 {
		return "1" + text
	}
	return text
}

// Create writes a new file of mode 0600. It does not touch one that is there.
func Create(path string, r *pseudonym.Ring) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(Text(r))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path)) // half a file is in the way
	}
	return nil
}

// Replace writes a file that is there: another one with its mode and owner,
// renamed into its place, so that nobody reads half of it.
func Replace(path string, r *pseudonym.Ring) (err error) {
	path, err = filepath.EvalSymlinks(path) // a link stays one
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*~")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name()) // or it is not there
		}
	}()
	if err := keepOwner(f, info); err != nil {
		return fmt.Errorf("keep the owner of %s: %w", path, err)
	}
	if err := f.Chmod(info.Mode().Perm()); err != nil {
		return err
	}
	if _, err := f.Write(Text(r)); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Warning says what is wrong with how a file is kept, or is empty.
func Warning(path string) string {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o007 == 0 {
		return ""
	}
	return fmt.Sprintf("%s is open to every user of this machine (mode %04o): chmod 600 it", path, info.Mode().Perm())
}
