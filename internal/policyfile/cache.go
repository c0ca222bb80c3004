package policyfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// The cache is one file: a line that names the format, a line of JSON that
// lists the files, their contents one after the other, and the SHA-256 of all
// that.
const (
	cacheName   = "policies.cache"
	cacheMagic  = "weir policies 1\n"
	cacheTemp   = ".policies-*.tmp"
	maxManifest = 32 << 20 // bytes; 10,000 files need 4 MiB when their paths are long
)

// digest names what is in service: the same files and contents, the same digest.
type digest [sha256.Size]byte

// cachedFile is one file in the list.
type cachedFile struct {
	Name string    `json:"name"`
	Key  string    `json:"path"` // absolute
	Root string    `json:"root"` // absolute, of Options.Paths
	At   time.Time `json:"at"`
	Size int       `json:"size"`
}

func digestOf(files []served) digest {
	h := sha256.New()
	for _, f := range files {
		h.Write(fmt.Appendf(nil, "%q %q %q %x\n", f.name, f.key, f.root, f.sum))
	}
	return digest(h.Sum(nil))
}

// encode is the cache's contents. The parts are in the order in which they are
// written.
func encode(files []served) ([][]byte, error) {
	list := make([]cachedFile, 0, len(files))
	for _, f := range files {
		list = append(list, cachedFile{f.name, f.key, f.root, f.at, len(f.data)})
	}
	manifest, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	parts := [][]byte{[]byte(cacheMagic), append(manifest, '\n')}
	for _, f := range files {
		parts = append(parts, f.data)
	}
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
	}
	return append(parts, h.Sum(nil)), nil
}

// decode is the other way. Any byte that is not as it was written is an error.
func decode(data []byte) ([]served, error) {
	body, ok := bytes.CutPrefix(data, []byte(cacheMagic))
	if !ok || len(body) < sha256.Size {
		return nil, errors.New("not a policy cache, or one of another version")
	}
	end := len(data) - sha256.Size
	if sum := sha256.Sum256(data[:end]); !bytes.Equal(sum[:], data[end:]) {
		return nil, errors.New("damaged: the checksum is wrong")
	}
	manifest, rest, _ := bytes.Cut(body[:len(body)-sha256.Size], []byte("\n"))
	var list []cachedFile
	if err := json.Unmarshal(manifest, &list); err != nil {
		return nil, fmt.Errorf("damaged: %w", err)
	}
	var out []served
	for _, f := range list {
		if f.Size < 0 || f.Size > len(rest) {
			return nil, errors.New("damaged: a file is cut short")
		}
		v := newVersion(slices.Clone(rest[:f.Size]), f.At)
		v.cached = true
		out = append(out, served{f.Name, f.Key, f.Root, v})
		rest = rest[f.Size:]
	}
	return out, nil
}

// readCache returns nil when there is none yet.
func readCache(dir string) ([]served, error) {
	f, err := os.Open(filepath.Join(dir, cacheName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer shut(f)
	const most = MaxTotalBytes + maxManifest
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if len(data) > most {
		return nil, errors.New("larger than any that weir writes")
	}
	return decode(data)
}
