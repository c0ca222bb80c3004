package tlsfile

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"slices"

	"github.com/weirlimit/weir/internal/reload"
)

// ClientFiles names the files of a client. Each may be missing; a certificate
// and its key go together.
type ClientFiles struct {
	CA        string // the authorities of servers; "" for the system's
	Cert, Key string
}

// Client is the side of who connects.
type Client struct {
	files ClientFiles
	file  *reload.File[*identity]
}

// identity is what a client trusts and shows.
type identity struct {
	roots *x509.CertPool // nil: the system's
	pairs []tls.Certificate
}

// OpenClient reads the files. None are a client that trusts the system's
// authorities and shows nothing.
func OpenClient(f ClientFiles) (*Client, error) {
	c := &Client{files: f}
	paths := slices.DeleteFunc([]string{f.CA, f.Cert, f.Key}, func(p string) bool { return p == "" })
	var err error
	if c.file, err = reload.Open(c.parse, paths...); err != nil {
		return nil, explain(err)
	}
	return c, nil
}

func (c *Client) parse(contents [][]byte) (*identity, error) {
	id := new(identity)
	var err error
	if c.files.CA != "" {
		if id.roots, err = parsePool(c.files.CA, contents[0]); err != nil {
			return nil, err
		}
		contents = contents[1:]
	}
	if c.files.Cert != "" && len(contents) == 2 {
		pair, err := parsePair(c.files.Cert, contents[0], c.files.Key, contents[1])
		if err != nil {
			return nil, err
		}
		id.pairs = []tls.Certificate{pair}
	}
	return id, nil
}

// Config returns a configuration for one connection, or for as many as shall be
// under the files as they are now. It is the caller's own.
func (c *Client) Config() *tls.Config {
	id := c.file.Get()
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: id.roots, Certificates: id.pairs}
}

// Reload makes Watch look at once.
func (c *Client) Reload() { c.file.Reload() }

// Watch keeps the files current until ctx ends. It calls told, on its own
// goroutine, with nil for new ones and with an error for wrong ones.
func (c *Client) Watch(ctx context.Context, told func(error)) {
	c.file.Watch(ctx, func(err error) { told(explain(err)) })
}
