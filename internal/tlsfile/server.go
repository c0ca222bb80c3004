package tlsfile

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir/internal/reload"
)

// ServerFiles names the files of a listener.
type ServerFiles struct {
	Cert, Key string
	ClientCA  string // the authorities of clients; "" asks for no certificates
}

// Server is the side of a listener, or of several with the same files.
type Server struct {
	files ServerFiles
	file  *reload.File[*material]
}

// material is what the files hold. It is replaced as a whole.
type material struct {
	pair    tls.Certificate
	clients *x509.CertPool // nil: none is asked for
	expires time.Time
}

// OpenServer reads the files.
func OpenServer(f ServerFiles) (*Server, error) {
	s := &Server{files: f}
	paths := []string{f.Cert, f.Key}
	if f.ClientCA != "" {
		paths = append(paths, f.ClientCA)
	}
	var err error
	if s.file, err = reload.Open(s.parse, paths...); err != nil {
		return nil, explain(err)
	}
	return s, nil
}

func (s *Server) parse(contents [][]byte) (*material, error) {
	m := new(material)
	var err error
	if m.pair, err = parsePair(s.files.Cert, contents[0], s.files.Key, contents[1]); err != nil {
		return nil, err
	}
	if s.files.ClientCA != "" {
		if m.clients, err = parsePool(s.files.ClientCA, contents[2]); err != nil {
			return nil, err
		}
	}
	// The chain is as good as the first of its parts to end.
	m.expires = m.pair.Leaf.NotAfter
	for _, der := range m.pair.Certificate[1:] {
		if c, err := x509.ParseCertificate(der); err == nil && c.NotAfter.Before(m.expires) {
			m.expires = c.NotAfter
		}
	}
	return m, nil
}

// AsksClients tells whether clients are asked for certificates.
func (s *Server) AsksClients() bool { return s.files.ClientCA != "" }

// Rules are what one listener wants of its connections.
type Rules struct {
	Protocols  []string // for ALPN, the preferred first
	MinVersion uint16   // 0 is TLS 1.3

	// Names are those of clients: one must match. Empty: the authority's word is
	// enough. Without ServerFiles.ClientCA they are not looked at.
	Names Names
	// Optional lets clients connect that show no certificate: HasClient tells
	// them apart. A certificate that is shown must be right all the same.
	Optional bool
	// Refused is told of certificates of the right authority and the wrong
	// names; nil for nobody. It must not block.
	Refused func(error)
}

// Config returns a configuration that follows the files.
func (s *Server) Config(r Rules) *tls.Config {
	if r.MinVersion == 0 {
		r.MinVersion = tls.VersionTLS13
	}
	type made struct {
		of     *material
		config *tls.Config
	}
	var last atomic.Pointer[made]
	c := s.config(r, nil)
	c.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		now := s.file.Get()
		m := last.Load()
		if m == nil || m.of != now {
			m = &made{now, s.config(r, now)}
			last.Store(m)
		}
		return m.config, nil
	}
	return c
}

// config is the configuration under some files; without them that of the moment
// before a client has said a word.
func (s *Server) config(r Rules, m *material) *tls.Config {
	c := &tls.Config{
		MinVersion: r.MinVersion, NextProtos: r.Protocols,
		SessionTicketsDisabled: true, // see the package comment
	}
	if m == nil {
		return c
	}
	c.Certificates = []tls.Certificate{m.pair}
	if m.clients == nil {
		return c
	}
	c.ClientCAs, c.ClientAuth = m.clients, tls.RequireAndVerifyClientCert
	if r.Optional {
		c.ClientAuth = tls.VerifyClientCertIfGiven
	}
	if !r.Names.Empty() {
		c.VerifyConnection = r.verify
	}
	return c
}

// verify looks at the names of a client that its authority has vouched for.
func (r *Rules) verify(cs tls.ConnectionState) error {
	if len(cs.PeerCertificates) == 0 {
		return nil // Optional, or there would be no connection
	}
	leaf := cs.PeerCertificates[0]
	if r.Names.Match(leaf) {
		return nil
	}
	err := fmt.Errorf("client certificate with the names %s is not on the list (%s)", namesOf(leaf), r.Names.String())
	if r.Refused != nil {
		r.Refused(err)
	}
	return err
}

// HasClient tells whether the client of a connection has shown a certificate,
// which was then verified. nil is a connection without TLS.
func HasClient(cs *tls.ConnectionState) bool { return cs != nil && len(cs.VerifiedChains) > 0 }

// Expires is when the certificate in force ends.
func (s *Server) Expires() time.Time { return s.file.Get().expires }

// Soon is how long before its end a certificate is warned of.
const Soon = 7 * 24 * time.Hour

// Warning says that the certificate in force has ended or is about to; "" when
// there is nothing to say.
func (s *Server) Warning(now time.Time) string {
	end := s.Expires()
	switch left := end.Sub(now); {
	case left <= 0:
		return "the certificate has expired: clients refuse it"
	case left <= Soon:
		return "the certificate expires within 7 days"
	case now.Before(s.file.Get().pair.Leaf.NotBefore):
		return "the certificate is not valid yet: clients refuse it"
	}
	return ""
}

// Reload makes Watch look at once.
func (s *Server) Reload() { s.file.Reload() }

// Watch keeps the files current until ctx ends. It calls told, on its own
// goroutine, with nil for new ones and with an error for wrong ones.
func (s *Server) Watch(ctx context.Context, told func(error)) {
	s.file.Watch(ctx, func(err error) { told(explain(err)) })
}
