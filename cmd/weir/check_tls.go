package main

import (
	"crypto/tls"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/spf13/pflag"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/weirlimit/weir/internal/tlsfile"
)

// clientTLSFlags say how a client speaks TLS to a server of ours.
type clientTLSFlags struct {
	on            bool
	ca, cert, key string
	serverName    string

	asked atomic.Bool // the server wants a certificate
}

func (f *clientTLSFlags) register(flags *pflag.FlagSet, prefix string) {
	flags.BoolVar(&f.on, "tls", false, "speak TLS, as https:// before --addr does and the flags below do")
	flags.StringVar(&f.ca, "tls-ca", "", "`file` of the authorities to trust instead of the system's")
	flags.StringVar(&f.cert, "tls-cert", "", "`file` of the certificate to show")
	flags.StringVar(&f.key, "tls-key", "", "`file` of its key")
	flags.StringVar(&f.serverName, "tls-server-name", "", "`name` that the server's certificate has, if not that of --addr")
	for _, name := range []string{"tls", "tls-ca", "tls-cert", "tls-key", "tls-server-name"} {
		fromEnv(flags, name, prefix+strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
	}
}

func (f *clientTLSFlags) wanted() bool {
	return f.on || f.ca != "" || f.cert != "" || f.key != "" || f.serverName != ""
}

// credentials are those of a connection; one, so that files are read once.
func (f *clientTLSFlags) credentials() (credentials.TransportCredentials, error) {
	if !f.wanted() {
		return insecure.NewCredentials(), nil
	}
	c, err := f.config()
	if err != nil {
		return nil, err
	}
	return credentials.NewTLS(c), nil
}

// config is how TLS is spoken.
func (f *clientTLSFlags) config() (*tls.Config, error) {
	if (f.cert == "") != (f.key == "") {
		return nil, usage("give both", "--tls-cert and --tls-key go together")
	}
	files, err := tlsfile.OpenClient(tlsfile.ClientFiles{CA: f.ca, Cert: f.cert, Key: f.key})
	if err != nil {
		return nil, fmt.Errorf("certificates: %w", err)
	}
	c := files.Config()
	c.ServerName = f.serverName
	// What was given is shown whatever the server says it wants: it knows best
	// why it refuses it.
	shown := new(tls.Certificate)
	if len(c.Certificates) > 0 {
		shown = &c.Certificates[0]
	}
	c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		f.asked.Store(true)
		return shown, nil
	}
	return c, nil
}

// hint says what to do about a connection that came to nothing, by what
// crypto/tls and gRPC say of it; "" when it was something else.
func (f *clientTLSFlags) hint(message string) string {
	for _, h := range []struct{ says, hint string }{
		{"first record does not look like a TLS handshake", "the server speaks no TLS: leave --tls out"},
		{"HTTP response to HTTPS client", "the server speaks no TLS: leave --tls and https:// out"},
		{"certificate signed by unknown authority", "give the file of its authority with --tls-ca"},
		{"certificate is valid for", "give the name that its certificate has with --tls-server-name"},
		{"cannot validate certificate for", "give the name that its certificate has with --tls-server-name"},
		{"certificate has expired", "renew the server's certificate"},
		{"protocol version", "the server speaks another version of TLS"},
	} {
		if strings.Contains(message, h.says) {
			return h.hint
		}
	}
	switch broken := brokenConn(message); {
	// A server says why it refuses a certificate, or its lack, after the
	// handshake: who writes meanwhile may find the connection gone.
	case broken && f.asked.Load() && f.cert == "":
		return "the server wants a client certificate: give --tls-cert and --tls-key"
	case broken && f.asked.Load():
		return "the server seems to refuse the client certificate: see its log, --tls-client-ca and --tls-client-san"
	}
	if !f.wanted() && strings.Contains(message, "server preface") && !strings.Contains(message, "HTTP/1.1") {
		return "if it speaks TLS, give --tls or --tls-ca; --addr names the gRPC listener of weir serve"
	}
	return ""
}

// brokenConn tells the words of gRPC about a connection from those of a server
// that has answered.
func brokenConn(message string) bool {
	for _, word := range []string{"connection", "EOF", "tls: ", "write tcp", "read tcp"} {
		if strings.Contains(message, word) {
			return true
		}
	}
	return false
}
