package main

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/weirlimit/weir/internal/bench"
	"github.com/weirlimit/weir/internal/loadgen"
)

// benchFlags is what the command line of bench says.
type benchFlags struct {
	addr, api        string
	ownIt            bool
	rate             int
	callers, conns   int
	duration, warmup time.Duration
	requests         int64
	timeout          time.Duration
	domain           string
	names            []string
	descriptors      int
	keys             uint64
	dist             string
	exponent         float64
	hits             int64
	seed             uint64
	expect           string
	pids             []string
	record, from     string
	quiet            bool
	tls              clientTLSFlags
	output           string
	madeUp           []string // the flags of made-up requests that were given
}

// The ways in which keys are chosen, and what can be expected.
var (
	benchDists   = []string{"uniform", "zipf", "hot"}
	benchExpects = []string{"any", "allow", "deny"}
)

// benchMakesUp are the flags that do not go with a list.
var benchMakesUp = []string{"domain", "names", "descriptors", "keys", "dist", "zipf", "hits", "seed"}

func (f *benchFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.addr, "addr", "", "`address` of the server; 127.0.0.1:8081, with --api http 127.0.0.1:8080, if empty")
	flags.BoolVar(&f.ownIt, "i-own-it", false, "load an address that is not loopback: I may, and it is no one else's")
	flags.StringVar(&f.api, "api", "rls", "`API` to ask over: rls, native, stream or http")
	flags.IntVar(&f.rate, "rate", 0, "requests a `second`, whatever is answered (open loop); 0 asks again when answered (closed loop)")
	flags.IntVar(&f.callers, "callers", 0, "how many requests are under way; at most, with --rate. 64 if 0, with --rate 4096, over HTTP 256")
	flags.IntVar(&f.conns, "conns", 4, "over how many connections; HTTP has one for each caller")
	flags.DurationVar(&f.duration, "duration", 10*time.Second, "how long to measure, at most 1h")
	flags.DurationVar(&f.warmup, "warmup", 2*time.Second, "how long to send before that, not counted; with --requests none unless given")
	flags.Int64Var(&f.requests, "requests", 0, "send so many `requests` at most, those of a --warmup included; 0 for no such bound")
	flags.DurationVar(&f.timeout, "timeout", time.Second, "longest to wait for an answer")
	flags.StringVar(&f.domain, "domain", "bench", "`domain` of the requests")
	flags.StringSliceVar(&f.names, "names", []string{"k1", "k2", "k3", "k4", "k5"}, "`names` of the descriptors' entries, or of the dimensions")
	flags.IntVar(&f.descriptors, "descriptors", 1, "how many descriptors or dimensions a request has, 1 to 5: as many of --names")
	flags.Uint64Var(&f.keys, "keys", 10_000, "how many different values they have, at most 100000000")
	flags.StringVar(&f.dist, "dist", "uniform", "how `often` each value is asked for: uniform, zipf or hot, which is one only")
	flags.Float64Var(&f.exponent, "zipf", 1, "`exponent` of --dist zipf, 0.1 to 5")
	flags.Int64Var(&f.hits, "hits", 1, "`units` that a request asks for; 0 only looks")
	flags.Uint64Var(&f.seed, "seed", 1, "another `number` for other keys in the same proportions")
	flags.StringVar(&f.expect, "expect", "any", "exit with 1 when a `decision` is another: allow, deny or any")
	flags.StringSliceVar(&f.pids, "pid", nil, "processes `name=pid` whose processor time is told, as server=123,redis=456")
	flags.StringVar(&f.record, "record", "", "write what was sent to this `file`")
	flags.StringVar(&f.from, "from", "", "send the requests of this `file`, again from its start after its end")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "do not say how it goes")
	flags.VisitAll(func(fl *pflag.Flag) {
		if len(fl.Annotations[envAnnotation]) == 0 {
			fromEnv(flags, fl.Name, "WEIR_BENCH_"+strings.ToUpper(strings.ReplaceAll(fl.Name, "-", "_")))
		}
	})
	f.tls.register(flags, "WEIR_BENCH_")
}

// plan turns the flags into a plan. Files are opened by the caller.
func (f *benchFlags) plan() (*bench.Plan, error) {
	p := &bench.Plan{
		API: bench.API(f.api), Rate: f.rate, Callers: f.callers, Conns: f.conns,
		Warmup: f.warmup, For: f.duration, Most: f.requests, Timeout: f.timeout,
	}
	switch {
	case !slices.Contains(bench.APIs, p.API):
		return nil, usage("use rls, native, stream or http", "--api: unknown API %q", f.api)
	case f.rate < 0 || f.rate > 1e6:
		return nil, usage("0 is a closed loop", "--rate: %d is outside 0 to 1000000", f.rate)
	case f.duration < time.Millisecond || f.duration > time.Hour:
		return nil, usage("for example 10s", "--duration: %s is outside 1ms to 1h", f.duration)
	case f.warmup < 0 || f.warmup > time.Hour:
		return nil, usage("for example 2s", "--warmup: %s is outside 0s to 1h", f.warmup)
	case f.timeout < time.Millisecond || f.timeout > time.Minute:
		return nil, usage("for example 1s", "--timeout: %s is outside 1ms to 1m", f.timeout)
	case f.callers < 0 || f.callers > 1<<16:
		return nil, usage("", "--callers: %d is outside 1 to 65536", f.callers)
	case f.conns < 1 || f.conns > 1024:
		return nil, usage("", "--conns: %d is outside 1 to 1024", f.conns)
	case f.requests < 0:
		return nil, usage("0 is no bound", "--requests: %d is below 0", f.requests)
	case !slices.Contains(benchExpects, f.expect):
		return nil, usage("use "+listText(benchExpects), "--expect: unknown decision %q", f.expect)
	case f.from != "" && len(f.madeUp) > 0:
		return nil, usage("the file says what is sent", "--from does not go with --%s", f.madeUp[0])
	}
	if err := f.target(p); err != nil {
		return nil, err
	}
	if err := f.processes(p); err != nil {
		return nil, err
	}
	if f.from == "" {
		return p, f.synthetic(p)
	}
	return p, nil
}

// target reads the address. A load is an attack to who does not expect it: one
// that may be another's needs a word.
func (f *benchFlags) target(p *bench.Plan) error {
	port := "8081"
	if p.API == bench.HTTP {
		port = "8080"
	}
	text, secure := strings.CutPrefix(f.addr, "https://")
	f.tls.on = f.tls.on || secure
	if text == "" {
		text = "127.0.0.1"
	}
	if _, _, err := net.SplitHostPort(text); err != nil {
		text = net.JoinHostPort(strings.Trim(text, "[]"), port)
	}
	addr, err := parseServer(text)
	if err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	ip, err := netip.ParseAddr(host)
	if loopback := host == "localhost" || err == nil && ip.Unmap().IsLoopback(); !loopback && !f.ownIt {
		return usage("give --i-own-it if you may load it", "--addr %s is not on this machine", addr)
	}
	p.Addr = addr
	if f.tls.wanted() {
		p.TLS, err = f.tls.config()
	}
	return err
}

func (f *benchFlags) synthetic(p *bench.Plan) error {
	switch {
	case f.descriptors < 1 || f.descriptors > 5:
		return usage("", "--descriptors: %d is outside 1 to 5", f.descriptors)
	case len(f.names) < f.descriptors || slices.Contains(f.names, ""):
		return usage("give as many as --descriptors", "--names: %d names for %d descriptors", len(f.names), f.descriptors)
	case f.domain == "":
		return usage("for example --domain bench", "--domain: is empty")
	case f.keys < 1 || f.keys > bench.MaxKeys:
		return usage("", "--keys: %d is outside 1 to %d", f.keys, bench.MaxKeys)
	case f.hits < 0 || f.hits > maxHits:
		return usage("use 0 to look without charging", "--hits: %d is outside 0 to %d", f.hits, maxHits)
	case !(f.exponent >= 0.1 && f.exponent <= 5):
		return usage("1 is usual", "--zipf: %v is outside 0.1 to 5", f.exponent)
	}
	keys := loadgen.Keys{Seed: f.seed, Count: f.keys}
	switch f.dist {
	case "uniform":
	case "zipf":
		keys.Zipf = loadgen.NewZipf(f.keys, f.exponent)
	case "hot":
		keys.Count = 1
	default:
		return usage("use "+listText(benchDists), "--dist: unknown choice %q", f.dist)
	}
	p.Requests = &bench.Synthetic{Domain: f.domain, Names: f.names[:f.descriptors], Cost: f.hits, Keys: keys}
	return nil
}

// processes reads --pid. This program's own is told too, so that one sees
// whether it is what is slow.
func (f *benchFlags) processes(p *bench.Plan) error {
	for _, text := range f.pids {
		name, number, _ := strings.Cut(text, "=")
		pid, err := strconv.ParseUint(number, 10, 31)
		if err != nil || pid == 0 || name == "" {
			return usage("for example --pid server=123,redis=456", "--pid %q: not name=pid", text)
		}
		p.Processes = append(p.Processes, bench.Process{Name: name, PID: int(pid)})
	}
	if _, err := os.Stat("/proc/self/stat"); err == nil {
		p.Processes = append(p.Processes, bench.Process{Name: "bench", PID: os.Getpid()})
	} else if len(f.pids) > 0 {
		return fmt.Errorf("--pid needs /proc, which this system does not have: %w", err)
	}
	return nil
}
