package archtest

// home is where a dependency may be imported outside of tests.
type home struct {
	imports  string // import path, and those below it
	packages set
	why      string
}

// The dependencies of production code. Tests may import what they like: an
// importer of Weir does not compile them.
var homes = []home{
	{
		"github.com/redis/rueidis",
		set{"redisstore"},
		"the client is a detail of one adapter, behind an interface of ours, and can be replaced there",
	},
	{
		"github.com/spf13/cobra",
		set{"cmd"},
		"a library has no command line",
	},
	{
		"github.com/spf13/pflag",
		set{"cmd"},
		"a library has no command line",
	},
	{
		"google.golang.org/grpc",
		edges,
		"wire types stop at the edges: a domain made of messages changes with every protocol",
	},
	{
		"golang.org/x/net",
		set{"internal/fastlane", "internal/h2client"},
		"one package serves HTTP/2 by itself and one loads such servers; the others use a library",
	},
	{
		"google.golang.org/genproto/googleapis/rpc",
		set{"grpclimit"},
		"the details of a denial as gRPC clients know them: RetryInfo and QuotaFailure",
	},
	{
		"google.golang.org/protobuf",
		edges,
		"wire types stop at the edges: a domain made of messages changes with every protocol",
	},
	{
		"github.com/envoyproxy",
		edges,
		"Envoy's protocol is one of several ways in; the engine knows none of them",
	},
	{
		"go.yaml.in/yaml/v3",
		set{"policy", "internal/policyfile", "internal/identityfile", "internal/saltfile", "internal/yamldoc", "cmd"},
		"what people write is read where it is understood, and nowhere else",
	},
	{
		"github.com/golang-jwt/jwt/v5",
		set{"identity/token"},
		"who has no tokens to verify does not compile a verifier",
	},
	{
		"github.com/fsnotify/fsnotify",
		set{"internal/policyfile"},
		"one package watches files; the others are told",
	},
	{
		"github.com/prometheus",
		set{"internal/obs"},
		"what is counted is said by hooks; how it is exposed is one package's affair",
	},
	{
		"pgregory.net/rapid",
		set{"storetest"},
		"a test library has no place in what users compile",
	},
	{
		"github.com/anishathalye/porcupine",
		set{"storetest"},
		"a test library has no place in what users compile",
	},
}
