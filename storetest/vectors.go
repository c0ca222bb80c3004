package storetest

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
)

//go:embed testdata/vectors/*.txt
var vectorFiles embed.FS

const vectorDir = "testdata/vectors"

// vector is a script with the answers it expects: the indented lines below a
// step. Blank lines and those that start with # are the reader's. To add one,
// write the steps, run go test ./storetest -run Vectors -rewrite, and check what
// it wrote: an answer that was only recorded proves nothing.
type vector struct {
	name  string
	lines []vectorLine
}

type vectorLine struct {
	number int
	text   string
	step   *step // nil for a comment
	want   []string
}

// vectorCases returns a case per file.
func vectorCases() []Case {
	files, err := vectorFiles.ReadDir(vectorDir)
	if err != nil {
		panic(err) // the directory is part of the program
	}
	cases := make([]Case, len(files))
	for i, f := range files {
		name := strings.TrimSuffix(f.Name(), ".txt")
		cases[i] = Case{Name: "vectors/" + name, needsClock: true, check: func(p *probe) { checkVector(p, f.Name()) }}
	}
	return cases
}

func checkVector(p *probe, file string) {
	text, err := vectorFiles.ReadFile(path.Join(vectorDir, file))
	if err != nil {
		p.Fatal(err)
	}
	v, err := parseVector(file, string(text))
	if err != nil {
		p.Fatal(err)
	}
	pl := newPlayer(p.Harness, p.tag)
	for _, line := range v.lines {
		if line.step == nil {
			continue
		}
		got, err := pl.play(line.step)
		if err != nil {
			p.Fatalf("%s:%d: %v", v.name, line.number, err)
		}
		if !slices.Equal(got, line.want) {
			p.Fatalf("%s:%d: %s\n got:%s\nwant:%s", v.name, line.number, line.text,
				indented(got), indented(line.want))
		}
	}
}

func parseVector(name, text string) (*vector, error) {
	v := &vector{name: name}
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "  "):
			n := len(v.lines) - 1
			if n < 0 || v.lines[n].step == nil {
				return nil, fmt.Errorf("%s:%d: an answer below no step", name, i+1)
			}
			v.lines[n].want = append(v.lines[n].want, line[2:])
		case line == "" || line[0] == '#':
			v.lines = append(v.lines, vectorLine{number: i + 1, text: line})
		default:
			s, err := parseStep(line)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
			}
			v.lines = append(v.lines, vectorLine{number: i + 1, text: line, step: &s})
		}
	}
	return v, nil
}

// rewritten returns v's text with the answers that Model gives, or an error for
// a script that asks what stores may answer differently.
func (v *vector) rewritten() (string, error) {
	o := newOracle("vector")
	var b strings.Builder
	for _, line := range v.lines {
		b.WriteString(line.text + "\n")
		if line.step == nil {
			continue
		}
		got, err := o.play(line.step)
		if err != nil {
			return "", fmt.Errorf("%s:%d: %w", v.name, line.number, err)
		}
		for _, answer := range got {
			b.WriteString("  " + answer + "\n")
		}
	}
	return b.String(), nil
}

func indented(lines []string) string {
	return "\n\t" + strings.Join(lines, "\n\t")
}
