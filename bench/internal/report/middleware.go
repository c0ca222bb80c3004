package report

import (
	"fmt"
	"strings"

	"github.com/weirlimit/weir/bench/internal/measure"
	"github.com/weirlimit/weir/bench/internal/peer"
	"github.com/weirlimit/weir/bench/internal/stat"
)

// judgedMiddleware is the row of ours that is held to the bars: the others do no
// more. Hashed addresses with all fields, and with none, are listed for what they
// add.
const judgedMiddleware = peer.LikeTheOthers

func (d *Document) middleware() string {
	var b strings.Builder
	b.WriteString("## Middleware\n\n")
	fmt.Fprintf(&b, "A request through each library's own net/http middleware, counting in memory by the address it\n"+
		"comes from, to a handler that does nothing; *%s* is that handler alone. The limit is %s units per\n"+
		"%d days with all of them as burst: nothing is denied. The ResponseWriter is used again and its\n"+
		"header emptied before each request, the same for all; the process holds %d MiB meanwhile. Each sets the header fields that it sets by\n"+
		"default, which differ: httprate, ulule and throttled three of the X-RateLimit family, tollbooth three\n"+
		"of its own and three of an early draft. Weir is there three times: as the others, with the same three\n"+
		"fields and the address as it is; with its defaults, which are seven fields (RateLimit, RateLimit-Policy and\n"+
		"five of X-RateLimit) and an address that is HMAC-SHA-256'd before it becomes a key; and so without fields.\n\n"+
		"They also differ in what else they do. Weir matches the request's method, path and address against\n"+
		"policies that may be swapped meanwhile; the others have one limit, fixed in the program. throttled's\n"+
		"memory has no cap on its keys here, httprate's forgets all at the end of a window, tollbooth's and\n"+
		"ulule's expire; Weir's has a cap, expiry and eviction. httprate counts under one lock.\n",
		peer.Bare, count(int(measure.MiddlewareLimit.Count)), int(measure.MiddlewareLimit.Period.Hours()/24), measure.MiddlewareHeap>>20)
	for _, t := range d.Middleware {
		fmt.Fprintf(&b, "\n### Middleware, %s, %s\n\n%s", addresses(t.Keys), cores(t.Cores), middlewareTable(t).Markdown())
	}
	return b.String()
}

func addresses(n int) string {
	if n == 1 {
		return "one address"
	}
	return count(n) + " addresses"
}

// middlewareTable is speedTable in words of requests.
func middlewareTable(t measure.SpeedTable) Table {
	out := speedTable(t)
	out.Head = []string{"library", "ns a request", "CPU ns a request", "allocs a request", "against Weir"}
	return out
}

// middlewareBars: nobody's middleware is faster, or allocates less.
func middlewareBars(tables []measure.SpeedTable) []Bar {
	var bars []Bar
	for _, t := range tables {
		var ours, fastest, leanest *measure.SpeedRow
		for i := range t.Rows {
			r := &t.Rows[i]
			switch {
			case r.Name == judgedMiddleware:
				ours = r
			case r.Ours || r.Name == peer.Bare:
			default:
				if fastest == nil || median(r.Wall) < median(fastest.Wall) {
					fastest = r
				}
				if leanest == nil || median(r.News) < median(leanest.News) {
					leanest = r
				}
			}
		}
		if ours == nil || fastest == nil {
			continue
		}
		where := fmt.Sprintf("middleware, %s, %s: %s ", addresses(t.Keys), cores(t.Cores), judgedMiddleware)
		a, b := median(ours.Wall), median(fastest.Wall)
		bars = append(bars, Bar{
			Promise:  where + "is first",
			Measured: fmt.Sprintf("%s ns, %s %s ns (%sx)", figure(a), fastest.Name, figure(b), digits(stat.Ratio(b, a))),
			Met:      a < b,
		}, Bar{
			Promise:  where + "allocates least",
			Measured: fmt.Sprintf("%s, %s %s", digits(median(ours.News)), leanest.Name, digits(median(leanest.News))),
			Met:      median(ours.News) < median(leanest.News),
		})
	}
	return bars
}
