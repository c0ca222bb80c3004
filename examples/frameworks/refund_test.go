package frameworks

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/labstack/echo/v4"

	"github.com/weirlimit/weir/httplimit"
)

// TestRefundOfReturnedErrors: what fails on this side is free, also where a
// handler says so by the error that it returns, as those of echo do.
func TestRefundOfReturnedErrors(t *testing.T) {
	refund := httplimit.WithRefund(httplimit.ServerErrors)
	e := echo.New()
	e.Use(EchoLimit(open(t), refund))
	e.GET("/orders/:id", func(echo.Context) error { return errors.New("the database is away") })
	g := gin.New()
	g.Use(GinLimit(open(t), refund))
	g.GET("/orders/:id", func(c *gin.Context) { c.AbortWithStatus(500) })
	for name, h := range map[string]http.Handler{"echo": e, "gin": g} {
		srv := httptest.NewServer(h)
		for i := range 5 {
			resp, err := http.Get(srv.URL + "/orders/1")
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != 500 {
				t.Errorf("%s: request %d: %d, want 500", name, i+1, resp.StatusCode)
			}
		}
		srv.Close()
	}
}
