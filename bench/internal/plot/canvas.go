package plot

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// width of every plot, in pixels of its own.
const width = 820

// style has the colours of both schemes. Series are told apart by lightness as
// well as by hue.
const style = `<style>
text{font:13px system-ui,sans-serif;fill:#1f2328}
.title{font-size:16px;font-weight:600}.head{font-weight:600}.small{font-size:12px}
.bg{fill:#fff}.axis{stroke:#d1d9e0}.mark{stroke:#9a6700;stroke-dasharray:6 4}.band{opacity:.12}.line{fill:none;stroke-width:2}
.f0{fill:#8c959f}.f1{fill:#d0d7de}.f2{fill:#0969da}.f3{fill:#80ccff}
.l0{stroke:#0969da}.l1{stroke:#bf3989}.l2{stroke:#1a7f37}.l3{stroke:#8c959f}
.p0{fill:#0969da}.p1{fill:#bf3989}.p2{fill:#1a7f37}.p3{fill:#8c959f}
@media (prefers-color-scheme:dark){
text{fill:#f0f6fc}.bg{fill:#0d1117}.axis{stroke:#3d444d}.mark{stroke:#d29922}.band{opacity:.2}
.f0{fill:#9198a1}.f1{fill:#59636e}.f2{fill:#58a6ff}.f3{fill:#1f6feb}
.l0{stroke:#58a6ff}.l1{stroke:#f778ba}.l2{stroke:#56d364}.l3{stroke:#9198a1}
.p0{fill:#58a6ff}.p1{fill:#f778ba}.p2{fill:#56d364}.p3{fill:#9198a1}
}
</style>
`

// canvas collects elements.
type canvas struct{ b strings.Builder }

// text writes at a point: anchor is start, middle or end.
func (c *canvas) text(x, y float64, class, anchor, s string) {
	fmt.Fprintf(&c.b, `<text x="%s" y="%s" class="%s" text-anchor="%s">%s</text>`+"\n",
		px(x), px(y), class, anchor, html.EscapeString(s))
}

func (c *canvas) rect(x, y, w, h float64, class string) {
	fmt.Fprintf(&c.b, `<rect x="%s" y="%s" width="%s" height="%s" class="%s"/>`+"\n", px(x), px(y), px(w), px(h), class)
}

func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(&c.b, `<line x1="%s" y1="%s" x2="%s" y2="%s" class="%s"/>`+"\n", px(x1), px(y1), px(x2), px(y2), class)
}

func (c *canvas) dot(x, y float64, class string) {
	fmt.Fprintf(&c.b, `<circle cx="%s" cy="%s" r="3.5" class="%s"/>`+"\n", px(x), px(y), class)
}

// svg is the whole document.
func (c *canvas) svg(title string, height float64) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %s" width="%d" role="img">`+"\n", width, px(height), width) +
		"<title>" + html.EscapeString(title) + "</title>\n" + style +
		`<rect width="100%" height="100%" class="bg"/>` + "\n" + c.b.String() + "</svg>\n"
}

// px writes a coordinate to a tenth of a pixel; what is no number is 0.
func px(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		v = 0
	}
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}

// nice is the least round number that is at least v.
func nice(v float64) float64 {
	if !(v > 0) || math.IsInf(v, 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 1.2, 1.6, 2, 3, 4, 6, 8} {
		if m*power >= v {
			return m * power
		}
	}
	return 10 * power
}

// number writes v with three digits that count.
func number(v float64) string {
	switch a := math.Abs(v); {
	case a >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	default:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
}
