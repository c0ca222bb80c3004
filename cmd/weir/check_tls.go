package main

import (
	"fmt"
	"strings"

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
	if (f.cert == "") != (f.key == "") {
		return nil, usage("give both", "--tls-cert and --tls-key go together")
	}
	files, err := tlsfile.OpenClient(tlsfile.ClientFiles{CA: f.ca, Cert: f.cert, Key: f.key})
	if err != nil {
		return nil, fmt.Errorf("certificates: %w", err)
	}
	c := files.Config()
	c.ServerName = f.serverName
	return credentials.NewTLS(c), nil
}

// tlsHint says what to do about a connection that came to nothing, by what
// crypto/tls and gRPC say of it; "" when it was something else.
func tlsHint(message string, withTLS bool) string {
	for _, h := range []struct{ says, hint string }{
		{"first record does not look like a TLS handshake", "the server speaks no TLS: leave --tls out"},
		{"certificate signed by unknown authority", "give the file of its authority with --tls-ca"},
		{"certificate is valid for", "give the name that its certificate has with --tls-server-name"},
		{"cannot validate certificate for", "give the name that its certificate has with --tls-server-name"},
		{"certificate has expired", "renew the server's certificate"},
		{"certificate required", "the server wants a client certificate: give --tls-cert and --tls-key"},
		{"bad certificate", "the server refuses the client certificate: see its log, --tls-client-ca and --tls-client-san"},
		{"unknown certificate authority", "the server does not know the authority of the client certificate: see its --tls-client-ca"},
		{"protocol version", "the server speaks another version of TLS"},
	} {
		if strings.Contains(message, h.says) {
			return h.hint
		}
	}
	if !withTLS && strings.Contains(message, "server preface") && !strings.Contains(message, "HTTP/1.1") {
		return "if it speaks TLS, give --tls or --tls-ca; --addr names the gRPC listener of weir serve"
	}
	return ""
}
