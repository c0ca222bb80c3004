package plot

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// elements parses an SVG and returns the attributes of its elements by name.
func elements(t *testing.T, svg string) map[string][]map[string]string {
	t.Helper()
	out := map[string][]map[string]string{}
	dec := xml.NewDecoder(strings.NewReader(svg))
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("not XML: %v\n%s", err, svg)
		}
		if e, ok := tok.(xml.StartElement); ok {
			attrs := map[string]string{}
			for _, a := range e.Attr {
				attrs[a.Name.Local] = a.Value
			}
			out[e.Name.Local] = append(out[e.Name.Local], attrs)
		}
	}
}

func TestBarsAreToScale(t *testing.T) {
	p := Bars{Title: "a < b & c", Unit: "us", Groups: []Group{{Name: "g", Bars: []Bar{
		{Label: "peer", Parts: []float64{80, 20}},
		{Label: "ours", Parts: []float64{10, 0}, Ours: true},
	}}}}
	svg := p.SVG()
	rects := elements(t, svg)["rect"][1:] // the first is the ground
	want := []string{"360", "90", "45", "0"}
	for i, r := range rects {
		if r["width"] != want[i] {
			t.Errorf("bar part %d is %s wide, want %s", i, r["width"], want[i])
		}
	}
	if rects[2]["class"] != "f2" || rects[0]["class"] != "f0" || rects[1]["class"] != "f1" {
		t.Errorf("colours %v", rects)
	}
	for _, text := range []string{"100 us", "10.0 us", "a &lt; b &amp; c", "prefers-color-scheme:dark"} {
		if !strings.Contains(svg, text) {
			t.Errorf("no %q in\n%s", text, svg)
		}
	}
}

func TestLinesAreToScale(t *testing.T) {
	p := Lines{Title: "t", X: "keys", Y: "us", Series: []Series{{Name: "s", Points: []Point{
		{X: 1000, Label: "1k", Y: 10, Least: 9, Most: 12},
		{X: 10_000, Label: "10k", Y: 5, Least: 5, Most: 5},
		{X: 100_000, Label: "100k", Y: 10, Least: 10, Most: 10},
	}}}}
	dots := elements(t, p.SVG())["circle"][:3]
	// The axis ends at 12: 10 lies 5/6 up, and the middle of a logarithmic axis is
	// the middle one.
	if dots[0]["cy"] != "105" || dots[1]["cy"] != "217.5" || dots[1]["cx"] != "415" || dots[2]["cy"] != "105" {
		t.Errorf("points at %v", dots)
	}
}

// A logarithmic axis has the figures and the marks on it, and bands have their
// height.
func TestLogarithmicLines(t *testing.T) {
	p := Lines{LogY: true, Marks: []Mark{{"budget", 1}}, Series: []Series{{Name: "s", Points: []Point{
		{X: 1, Y: 0.1, Least: 0.1, Most: 0.1}, {X: 2, Y: 10, Least: 10, Most: 10},
	}}}}
	e := elements(t, p.SVG())
	dots := e["circle"]
	if dots[0]["cy"] != "330" || dots[1]["cy"] != "60" {
		t.Errorf("points at %v", dots)
	}
	marks := 0
	for _, l := range e["line"] {
		if l["class"] == "mark" {
			marks++
			if l["y1"] != "195" || l["y2"] != "195" {
				t.Errorf("1 of 0.1 to 10 lies at %v", l)
			}
		}
	}
	if marks != 1 {
		t.Errorf("%d marks", marks)
	}
	flat := Lines{Series: []Series{{Low: 5, High: 10, Points: []Point{{X: 1, Y: 10}}}}}
	if r := elements(t, flat.SVG())["rect"]; len(r) != 2 || r[1]["height"] != "135" || r[1]["y"] != "60" {
		t.Errorf("band %v", r)
	}
}

func TestPlotsOfNothing(t *testing.T) {
	for _, svg := range []string{
		Bars{}.SVG(),
		Bars{Groups: []Group{{Bars: []Bar{{Parts: []float64{math.NaN()}}}}}}.SVG(),
		Lines{}.SVG(),
		Lines{Series: []Series{{}, {Points: []Point{{X: 10, Y: 0}}}}}.SVG(),
		Lines{LogY: true}.SVG(),
		Lines{LogY: true, Series: []Series{{Points: []Point{{X: 10, Y: 0}, {X: 11, Y: math.NaN()}}}}}.SVG(),
	} {
		elements(t, svg)
		if strings.Contains(svg, "NaN\"") || strings.Contains(svg, "Inf\"") {
			t.Errorf("a coordinate is no number:\n%s", svg)
		}
	}
}

func TestNice(t *testing.T) {
	for v, want := range map[float64]float64{0: 1, -3: 1, 1: 1, 1.1: 1.2, 56: 60, 61: 80, 81: 100, 0.013: 0.016} {
		if got := nice(v); math.Abs(got-want) > 1e-9 {
			t.Errorf("nice(%v) = %v, want %v", v, got, want)
		}
	}
}
