package rls

import (
	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"

	"github.com/weirlimit/weir"
)

// units are what the wire can name, shortest first.
var units = []struct {
	span  weir.Micros
	reply pb.RateLimitResponse_RateLimit_Unit
	asked typev3.RateLimitUnit
}{
	{weir.Second, pb.RateLimitResponse_RateLimit_SECOND, typev3.RateLimitUnit_SECOND},
	{weir.Minute, pb.RateLimitResponse_RateLimit_MINUTE, typev3.RateLimitUnit_MINUTE},
	{weir.Hour, pb.RateLimitResponse_RateLimit_HOUR, typev3.RateLimitUnit_HOUR},
	{weir.Day, pb.RateLimitResponse_RateLimit_DAY, typev3.RateLimitUnit_DAY},
	{weir.Week, pb.RateLimitResponse_RateLimit_WEEK, -1},
	{weir.Month, pb.RateLimitResponse_RateLimit_MONTH, typev3.RateLimitUnit_MONTH},
	{weir.Year, pb.RateLimitResponse_RateLimit_YEAR, typev3.RateLimitUnit_YEAR},
}

// rateOf says a limit in the wire's words: the same rate in the shortest unit
// that is not shorter than its window and in which it is a whole number (100 in
// 30 s is 200 a minute), else the count with an unknown unit.
func rateOf(l weir.Limit) (uint32, pb.RateLimitResponse_RateLimit_Unit) {
	seconds := int64(l.Window / weir.Second)
	for i := range units {
		u := &units[i]
		if u.span == l.Window && l.Count <= 1<<32-1 {
			return uint32(l.Count), u.reply // as nearly all are, without a division
		}
		whole := l.Count * int64(u.span/weir.Second) // at most 1e7 * 3.2e7
		if u.span >= l.Window && whole%seconds == 0 && whole/seconds <= 1<<32-1 {
			return uint32(whole / seconds), u.reply
		}
	}
	return uint32(l.Count), pb.RateLimitResponse_RateLimit_UNKNOWN
}

// spanOf is the window that a request's own limit names; 0 for none it can be.
func spanOf(u typev3.RateLimitUnit) weir.Micros {
	for _, known := range units {
		if known.asked == u {
			return known.span
		}
	}
	return 0
}
