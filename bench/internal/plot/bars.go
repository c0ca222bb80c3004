package plot

// Bars is groups of bars that lie, each of one or two parts.
type Bars struct {
	Title  string
	Unit   string
	Parts  []string // what the parts of a bar are; nil when bars have one
	Groups []Group
}

// Group has a heading and bars.
type Group struct {
	Name string
	Bars []Bar
}

// Bar is one figure. Ours is in the strong colour.
type Bar struct {
	Label string
	Parts []float64
	Ours  bool
}

// Sum of the parts is the bar's length.
func (b Bar) Sum() (sum float64) {
	for _, v := range b.Parts {
		sum += v
	}
	return sum
}

// SVG draws the bars. All have one scale: lengths compare across groups.
func (p Bars) SVG() string {
	const left, right, row, gap = 280.0, 90.0, 20.0, 14.0
	most := 0.0
	for _, g := range p.Groups {
		for _, b := range g.Bars {
			most = max(most, b.Sum())
		}
	}
	if !(most > 0) {
		most = 1
	}
	scale := (width - left - right) / most
	c := &canvas{}
	c.text(16, 28, "title", "start", p.Title)
	y := 48.0
	if len(p.Parts) > 1 {
		p.legend(c, y)
		y += 20
	}
	for _, g := range p.Groups {
		y += gap
		c.text(16, y+4, "head", "start", g.Name)
		y += 12
		for _, b := range g.Bars {
			c.text(left-8, y+14, "small", "end", b.Label)
			x := left
			for i, v := range b.Parts {
				w := max(v*scale, 0)
				c.rect(x, y+3, w, row-6, p.class(b, i))
				x += w
			}
			c.text(x+6, y+14, "small", "start", number(b.Sum())+" "+p.Unit)
			y += row
		}
	}
	return c.svg(p.Title, y+12)
}

func (p Bars) legend(c *canvas, y float64) {
	x := 16.0
	for i, part := range p.Parts {
		c.rect(x, y-10, 12, 12, p.class(Bar{}, i))
		c.rect(x+14, y-10, 12, 12, p.class(Bar{Ours: true}, i))
		c.text(x+32, y, "small", "start", part)
		x += 60 + 8*float64(len(part))
	}
}

// class is the colour: blue for ours and grey for others, lighter in the second
// part.
func (p Bars) class(b Bar, part int) string {
	names := [2]string{"f0", "f1"}
	if b.Ours {
		names = [2]string{"f2", "f3"}
	}
	return names[min(part, 1)]
}
