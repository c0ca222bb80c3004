package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Lines is figures over something that grows tenfold from step to step.
type Lines struct {
	Title  string
	X, Y   string // what the axes are
	Series []Series
}

// Series is one line, in the order of X. At most three are told apart.
type Series struct {
	Name   string
	Points []Point
}

// Point has a figure with the least and the most that were measured.
type Point struct {
	X              float64 // above 0
	Label          string  // of X
	Y, Least, Most float64
}

// frame of the axes, in pixels.
const (
	axisLeft, axisRight = 70.0, width - 40.0
	axisTop, axisBottom = 60.0, 330.0
)

// SVG draws the lines, from a Y of 0 on: what is flat looks flat.
func (p Lines) SVG() string {
	c := &canvas{}
	c.text(16, 28, "title", "start", p.Title)
	lo, hi, most := p.bounds()
	top := nice(most)
	x := func(v float64) float64 {
		if hi <= lo {
			return (axisLeft + axisRight) / 2
		}
		return axisLeft + 20 + (math.Log10(v)-lo)/(hi-lo)*(axisRight-axisLeft-40)
	}
	y := func(v float64) float64 { return axisBottom - v/top*(axisBottom-axisTop) }
	const ticks = 4
	for i := range ticks + 1 {
		v := top * float64(i) / ticks
		c.line(axisLeft, y(v), axisRight, y(v), "axis")
		c.text(axisLeft-8, y(v)+4, "small", "end", number(v))
	}
	c.text(axisLeft, axisTop-12, "small", "start", p.Y)
	c.text((axisLeft+axisRight)/2, axisBottom+42, "small", "middle", p.X)
	p.label(c, x)
	for i, s := range p.Series {
		p.draw(c, s, i%3, x, y)
		at := axisBottom + 66 + 20*float64(i)
		c.dot(axisLeft+6, at-4, fmt.Sprintf("p%d", i%3))
		c.text(axisLeft+18, at, "small", "start", s.Name)
	}
	return c.svg(p.Title, axisBottom+66+20*float64(len(p.Series)))
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
		c.text(x(pt.X)+6, y(pt.Y)-8, "small", "start", number(pt.Y))
	}
}

// bounds are the decimal logarithms of the least and the greatest X, and the
// greatest Y.
func (p Lines) bounds() (lo, hi, most float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, s := range p.Series {
		for _, pt := range s.Points {
			lo, hi = min(lo, math.Log10(pt.X)), max(hi, math.Log10(pt.X))
			most = max(most, pt.Y, pt.Most)
		}
	}
	return lo, hi, most
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
