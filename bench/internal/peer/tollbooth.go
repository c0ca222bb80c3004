package peer

import (
	"net/http"

	"github.com/didip/tollbooth/v7"
)

// tollbooth refills by the second; what it may hold is said apart. It counts by
// path too unless told not to, and looks at no forwarded address here.
var tollboothMiddleware = Middleware{
	Name: "didip/tollbooth",
	New: func(l Limit, _ int, next http.Handler) (Wrapped, error) {
		lim := tollbooth.NewLimiter(float64(l.Count)/l.Period.Seconds(), nil).
			SetBurst(int(l.Count)).
			SetIPLookups([]string{"RemoteAddr"}).
			SetIgnoreURL(true)
		return wrapped(tollbooth.LimitHandler(lim, next)), nil
	},
}
