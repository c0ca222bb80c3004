package grpclimit

import (
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"strings"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/admission"
)

// MaxValueBytes is the longest value of a dimension, 4096 bytes; a server takes no
// longer ones. What stands for one that is longer is its beginning and its end,
// 2012 bytes each, and between them sha256: and the digest of the whole.
const MaxValueBytes = admission.MaxValueBytes

// Metadata makes a dimension of a metadata key. A call without the key does not
// have the dimension; one that has it twice, or with a value that is no UTF-8, is
// refused.
//
// It believes what the caller says: use it only behind a gateway that sets the
// key itself, whatever the client sent. Where clients connect directly they
// would choose whose quota they spend; use PeerSAN there.
func Metadata(dimension, key string) Dimensions {
	key = strings.ToLower(key)
	field := admission.Field{Dimension: dimension, Kind: "metadata key", Name: key}
	return func(ctx context.Context, _ *Call, dst []weir.Pair) ([]weir.Pair, error) {
		return field.Append(dst, metadata.ValueFromIncomingContext(ctx, key))
	}
}

// Constant makes a dimension that is the same for all calls, such as the region
// this process runs in.
func Constant(dimension, value string) Dimensions {
	return func(_ context.Context, _ *Call, dst []weir.Pair) ([]weir.Pair, error) {
		return append(dst, weir.Pair{Name: dimension, Value: value}), nil
	}
}

// PeerIP makes the dimension ip of the address that the connection comes from,
// which nobody can forge. An IPv6 address counts by its /64, which is what a
// customer of a network is given. Behind a proxy it is the proxy's address: take
// the client's from the proxy there.
func PeerIP() Dimensions {
	return func(ctx context.Context, _ *Call, dst []weir.Pair) ([]weir.Pair, error) {
		ip := admission.Network(peerIP(ctx))
		if ip == "" {
			return dst, admission.Invalid("ip", "the connection has no IP address", "use another dimension than grpclimit.PeerIP")
		}
		return append(dst, weir.Pair{Name: "ip", Value: ip}), nil
	}
}

// peerIP returns the address of the other side; the zero Addr when it has none.
func peerIP(ctx context.Context) netip.Addr {
	p, ok := peer.FromContext(ctx)
	if !ok || p.Addr == nil {
		return netip.Addr{}
	}
	if tcp, ok := p.Addr.(*net.TCPAddr); ok {
		addr, _ := netip.AddrFromSlice(tcp.IP)
		return addr
	}
	ap, _ := netip.ParseAddrPort(p.Addr.String())
	return ap.Addr()
}

// PeerSAN makes a dimension of the name in the certificate that the client
// proved to have, and that the server verified: its first URI (a SPIFFE id),
// else its first DNS name, else its first email address. A client without a
// verified certificate is refused, as is one whose certificate has no such
// name: with PeerSAN, know your clients.
func PeerSAN(dimension string) Dimensions {
	return func(ctx context.Context, _ *Call, dst []weir.Pair) ([]weir.Pair, error) {
		name := peerName(ctx)
		if name == "" {
			return dst, admission.Invalid(dimension, "the client has no verified certificate with a name", "connect with TLS and a client certificate")
		}
		return append(dst, weir.Pair{Name: dimension, Value: name}), nil
	}
}

func peerName(ctx context.Context) string {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return ""
	}
	info, ok := p.AuthInfo.(credentials.TLSInfo)
	if !ok || len(info.State.VerifiedChains) == 0 || len(info.State.VerifiedChains[0]) == 0 {
		return ""
	}
	return subjectName(info.State.VerifiedChains[0][0])
}

func subjectName(c *x509.Certificate) string {
	switch {
	case len(c.URIs) > 0:
		return c.URIs[0].String()
	case len(c.DNSNames) > 0:
		return c.DNSNames[0]
	case len(c.EmailAddresses) > 0:
		return c.EmailAddresses[0]
	}
	return ""
}
