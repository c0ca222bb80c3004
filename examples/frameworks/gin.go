package frameworks

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/httplimit"
)

// GinLimit makes gin's kind of middleware of httplimit's. gin knows the route
// before its middleware runs.
func GinLimit(limits weir.Checker, opts ...httplimit.Option) gin.HandlerFunc {
	type key struct{}
	limit := httplimit.New(limits, opts...)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		r.Context().Value(key{}).(*gin.Context).Next()
	}))
	return func(c *gin.Context) {
		r := c.Request.WithContext(context.WithValue(c.Request.Context(), key{}, c))
		r.Pattern = c.FullPath()
		limit.ServeHTTP(c.Writer, r)
		c.Abort() // what was to run has run
	}
}

// Gin limits all routes.
func Gin(limits weir.Checker) http.Handler {
	r := gin.New()
	r.Use(GinLimit(limits))
	r.GET("/orders/:id", func(c *gin.Context) {
		c.String(http.StatusOK, "order %s\n", c.Param("id"))
	})
	return r
}
