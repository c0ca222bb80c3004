package main

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/weirlimit/weir/internal/tlsfile"
)

// tlsFlags say how the listeners are secured. They hold for all of them.
type tlsFlags struct {
	cert, key, clientCA string
	clientSAN, adminSAN []string
	healthExempt        bool
	insecure            bool
}

func (f *tlsFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.cert, "tls-cert", "", "`file` of the certificate of all listeners, which then speak TLS 1.3 only")
	flags.StringVar(&f.key, "tls-key", "", "`file` of its key")
	flags.StringVar(&f.clientCA, "tls-client-ca", "", "`file` of the authorities of clients, which then must show a certificate")
	flags.StringSliceVar(&f.clientSAN, "tls-client-san", nil,
		"`names` of which a client's certificate must have one: DNS (*. for any one label), URI or IP; with commas or repeated")
	flags.StringSliceVar(&f.adminSAN, "tls-admin-san", nil, "`names` for the admin listener instead of --tls-client-san")
	flags.BoolVar(&f.healthExempt, "tls-health-exempt", false,
		"let health checks in without a client certificate: /healthcheck, /livez, /readyz and grpc.health.v1")
	flags.BoolVar(&f.insecure, "insecure", false, "do not warn of addresses that are not loopback and have no TLS")
	for _, name := range []string{
		"tls-cert", "tls-key", "tls-client-ca", "tls-client-san", "tls-admin-san", "tls-health-exempt", "insecure",
	} {
		fromEnv(flags, name, "WEIR_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
	}
}

// check says what does not go together.
func (f *tlsFlags) check() error {
	switch {
	case (f.cert == "") != (f.key == ""):
		return usage("give both", "--tls-cert and --tls-key go together")
	case f.cert == "" && f.clientCA != "":
		return usage("give --tls-cert and --tls-key too", "--tls-client-ca: clients are asked for certificates over TLS only")
	case f.clientCA == "" && len(f.clientSAN) > 0:
		return usage("give --tls-client-ca too", "--tls-client-san: names are worth what the authority is that vouches for them")
	case f.clientCA == "" && len(f.adminSAN) > 0:
		return usage("give --tls-client-ca too", "--tls-admin-san: names are worth what the authority is that vouches for them")
	case f.clientCA == "" && f.healthExempt:
		return usage("leave it out, or give --tls-client-ca", "--tls-health-exempt: no certificate is asked for")
	case f.cert != "" && f.insecure:
		return usage("leave one of them out", "--insecure and --tls-cert contradict each other")
	}
	return nil
}

// names are those that clients of a listener may have.
func (f *tlsFlags) names(listener string) (tlsfile.Names, error) {
	flag, texts := "--tls-client-san", f.clientSAN
	if listener == doorAdmin && len(f.adminSAN) > 0 {
		flag, texts = "--tls-admin-san", f.adminSAN
	}
	n, err := tlsfile.ParseNames(texts)
	if err != nil {
		return n, usage("", "%s: %w", flag, err)
	}
	return n, nil
}
