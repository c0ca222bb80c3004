package identityfile

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/weirlimit/weir/identity"
	"github.com/weirlimit/weir/identity/token"
	"github.com/weirlimit/weir/internal/reload"
)

// keyFile has the API keys of a file.
type keyFile struct{ *reload.File[*identity.Keys] }

var _ identity.KeySource = keyFile{}

func (f keyFile) APIKeys() *identity.Keys { return f.Get() }

// setFile has the keys of a file, to verify tokens with.
type setFile struct{ *reload.File[*token.KeySet] }

var _ token.Source = setFile{}

func (f setFile) Keys() *token.KeySet { return f.Get() }

// Missed does nothing: the file is looked at every second anyhow.
func (f setFile) Missed() {}

// verifier makes what verifies tokens, and notes in g what is to be followed.
func (l *Live) verifier(t *Tokens, g, before *generation) (*token.Verifier, error) {
	o := t.Options
	var err error
	switch {
	case t.File != "":
		o.Keys, err = l.setFile(g, t.File, token.ParseJWKS)
	case t.SecretFile != "":
		o.Keys, err = l.setFile(g, t.SecretFile, func(data []byte) (*token.KeySet, error) {
			return token.NewSecret(bytes.TrimRight(data, "\r\n"), o.Algorithms...)
		})
	default:
		if g.remote, err = l.remote(t, g, before); err == nil {
			o.Keys = g.remote.keys
		}
	}
	if err != nil {
		return nil, fmt.Errorf("jwt: %w", err)
	}
	return token.New(o)
}

func (l *Live) setFile(g *generation, name string, parse func([]byte) (*token.KeySet, error)) (token.Source, error) {
	path := l.path(name)
	f, err := reload.Open(func(c [][]byte) (*token.KeySet, error) { return parse(c[0]) }, path)
	if err != nil {
		return nil, inFile(path, err)
	}
	g.files = append(g.files, file{path: path, load: f.Load})
	return setFile{f}, nil
}

// remote returns a provider's keys: those of the version before if it asked the
// same of the same, so that an edit elsewhere in the file forgets no key.
func (l *Live) remote(t *Tokens, g, before *generation) (*remote, error) {
	r := &remote{options: t.Remote}
	if t.CAFile != "" {
		path := l.path(t.CAFile)
		f, err := reload.Open(parseRoots, path)
		if err != nil {
			return nil, inFile(path, err)
		}
		g.files = append(g.files, file{path: path, load: f.Load, rebuild: true})
		r.roots = f.Get()
	}
	if before != nil && before.remote != nil && before.remote.same(r) {
		return before.remote, nil
	}
	o := t.Remote
	o.Roots = []byte(r.roots)
	var err error
	r.keys, err = token.NewRemote(o)
	return r, err
}

// parseRoots takes what has authorities in it.
func parseRoots(c [][]byte) (string, error) {
	if !x509.NewCertPool().AppendCertsFromPEM(c[0]) {
		return "", errors.New("holds no certificate in PEM form")
	}
	return string(c[0]), nil
}

func (r *remote) same(other *remote) bool {
	a, b := &r.options, &other.options
	return a.URL == b.URL && a.Refresh == b.Refresh && a.Retry == b.Retry && a.Timeout == b.Timeout && r.roots == other.roots
}
