package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Lines is figures over something that grows by factors from step to step.
type Lines struct {
	Title  string
	X, Y   string // what the axes are
	LogY   bool   // for what differs by factors; else the axis begins at 0
	Series []Series
	Marks  []Mark
}

// Series is one line, in the order of X. At most four are told apart, the last
// of which is grey.
type Series struct {
	Name   string
	Points []Point
	Bare   bool // without figures at its points
	// Low and High, when not 0, are a band that the line is to stay in.
	Low, High float64
}

// Point has a figure with the least and the most that were measured.
type Point struct {
	X              float64 // above 0
	Label          string  // of X
	Y, Least, Most float64
}

// Mark is a line across at a figure with a name: a bound.
type Mark struct {
	Name string
	Y    float64
}

const colours = 4

// frame of the axes, in pixels.
const (
	axisLeft, axisRight = 70.0, width - 40.0
	axisTop, axisBottom = 60.0, 330.0
)

// axis is where figures lie.
type axis struct {
	ticks []float64
	at    func(v float64) float64
}

// SVG draws the lines. Unless the axis is logarithmic it begins at 0: what is
// flat looks flat.
func (p Lines) SVG() string {
	c := &canvas{}
	c.text(16, 28, "title", "start", p.Title)
	lo, hi := p.span()
	x := func(v float64) float64 {
		if !(hi > lo) {
			return (axisLeft + axisRight) / 2
		}
		return axisLeft + 20 + (math.Log10(v)-lo)/(hi-lo)*(axisRight-axisLeft-60)
	}
	y := p.linear()
	if p.LogY {
		y = p.logarithmic()
	}
	for _, v := range y.ticks {
		c.line(axisLeft, y.at(v), axisRight, y.at(v), "axis")
		c.text(axisLeft-8, y.at(v)+4, "small", "end", short(v))
	}
	c.text(axisLeft, axisTop-12, "small", "start", p.Y)
	c.text((axisLeft+axisRight)/2, axisBottom+42, "small", "middle", p.X)
	p.label(c, x)
	for i, s := range p.Series {
		if s.High > s.Low {
			c.rect(axisLeft, y.at(s.High), axisRight-axisLeft, y.at(s.Low)-y.at(s.High), fmt.Sprintf("band p%d", i%colours))
		}
	}
	for _, m := range p.Marks {
		c.line(axisLeft, y.at(m.Y), axisRight, y.at(m.Y), "mark")
		c.text(axisLeft+110, y.at(m.Y)-5, "small", "start", m.Name)
	}
	for i, s := range p.Series {
		p.draw(c, s, i%colours, x, y.at)
		at := axisBottom + 66 + 20*float64(i)
		c.dot(axisLeft+6, at-4, fmt.Sprintf("p%d", i%colours))
		c.text(axisLeft+18, at, "small", "start", s.Name)
	}
	return c.svg(p.Title, axisBottom+66+20*float64(len(p.Series)))
}

// linear is an axis from 0.
func (p Lines) linear() axis {
	_, most := p.bounds()
	top := nice(most)
	a := axis{at: func(v float64) float64 { return axisBottom - v/top*(axisBottom-axisTop) }}
	const ticks = 4
	for i := range ticks + 1 {
		a.ticks = append(a.ticks, top*float64(i)/ticks)
	}
	return a
}

// logarithmic is an axis over the decades that there are figures in, by 1, 2, 5.
func (p Lines) logarithmic() axis {
	least, most := p.bounds()
	if !(least > 0) || math.IsInf(least, 0) {
		least, most = 1, max(most, 1)
	}
	var ticks []float64
	for power := math.Pow(10, math.Floor(math.Log10(least))); ; power *= 10 {
		for _, m := range []float64{1, 2, 5} {
			v := m * power
			switch {
			case len(ticks) > 0 && v > 2*least && ticks[len(ticks)-1] >= most:
				from, to := math.Log10(ticks[0]), math.Log10(ticks[len(ticks)-1])
				return axis{ticks, func(v float64) float64 {
					return axisBottom - (math.Log10(max(v, ticks[0]))-from)/(to-from)*(axisBottom-axisTop)
				}}
			case v*2.5 > least:
				ticks = append(ticks, v)
			}
		}
	}
}

// short writes a figure of an axis without zeroes that say nothing.
func short(v float64) string {
	text := number(v)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// draw draws one line, with a whisker from the least to the most at each point.
func (p Lines) draw(c *canvas, s Series, colour int, x, y func(float64) float64) {
	var path strings.Builder
	for i, pt := range s.Points {
		verb := "L"
		if i == 0 {
			verb = "M"
		}
		fmt.Fprintf(&path, "%s%s %s", verb, px(x(pt.X)), px(y(pt.Y)))
	}
	fmt.Fprintf(&c.b, `<path d="%s" class="line l%d"/>`+"\n", path.String(), colour)
	for _, pt := range s.Points {
		c.line(x(pt.X), y(pt.Least), x(pt.X), y(pt.Most), fmt.Sprintf("l%d", colour))
		c.dot(x(pt.X), y(pt.Y), fmt.Sprintf("p%d", colour))
		if s.Bare {
			continue
		}
		above := -8.0
		if colour == 1 { // two lines that lie near each other have their figures apart
			above = 17
		}
		c.text(x(pt.X)+6, y(pt.Y)+above, "small", "start", number(pt.Y))
	}
}

// span is the decimal logarithms of the least and the greatest X.
func (p Lines) span() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, s := range p.Series {
		for _, pt := range s.Points {
			lo, hi = min(lo, math.Log10(pt.X)), max(hi, math.Log10(pt.X))
		}
	}
	return lo, hi
}

// bounds are the least Y above 0 and the greatest of all that is drawn.
func (p Lines) bounds() (least, most float64) {
	least = math.Inf(1)
	see := func(values ...float64) {
		for _, v := range values {
			if v > 0 && !math.IsInf(v, 0) {
				least, most = min(least, v), max(most, v)
			}
		}
	}
	for _, s := range p.Series {
		see(s.Low, s.High)
		for _, pt := range s.Points {
			see(pt.Y, pt.Least, pt.Most)
		}
	}
	for _, m := range p.Marks {
		see(m.Y)
	}
	return least, most
}

// label names the points of all series on the axis, where there is room.
func (p Lines) label(c *canvas, x func(float64) float64) {
	const room = 45
	var at []float64
	for _, s := range p.Series {
		for _, pt := range s.Points {
			here := x(pt.X)
			if slices.ContainsFunc(at, func(v float64) bool { return math.Abs(v-here) < room }) {
				continue
			}
			at = append(at, here)
			c.text(here, axisBottom+20, "small", "middle", pt.Label)
		}
	}
}
