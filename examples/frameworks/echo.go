package frameworks

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/httplimit"
)

// EchoLimit makes echo's kind of middleware of httplimit's. echo knows the
// route before the middleware of Use runs.
func EchoLimit(limits weir.Checker, opts ...httplimit.Option) echo.MiddlewareFunc {
	limit := echo.WrapMiddleware(httplimit.New(limits, opts...))
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		limited := limit(func(c echo.Context) error {
			err := next(c)
			if err != nil {
				c.Error(err) // answered here, so that its status is known to WithRefund
			}
			return err
		})
		return func(c echo.Context) error {
			c.Request().Pattern = c.Path()
			return limited(c)
		}
	}
}

// Echo limits all routes.
func Echo(limits weir.Checker) http.Handler {
	e := echo.New()
	e.Use(EchoLimit(limits))
	e.GET("/orders/:id", func(c echo.Context) error {
		return c.String(http.StatusOK, "order "+c.Param("id")+"\n")
	})
	return e
}
