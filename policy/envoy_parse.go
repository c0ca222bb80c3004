package policy

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/weirlimit/weir/internal/yamldoc"
)

// ParseEnvoy reads a file of envoyproxy/ratelimit's format. The file is nil
// when a problem is more than a warning. Texts of problems are those of that
// service; their positions and hints are ours. It never panics and takes
// memory in proportion to len(data), some 40 bytes for each.
func ParseEnvoy(name string, data []byte) (*EnvoyFile, []Problem) {
	p := &envoyParser{file: name, budget: len(data) + maxAliased, interned: map[string]string{}}
	f := p.parse(data)
	SortProblems(p.problems)
	if p.unreported > 0 {
		p.problems = append(p.problems, Problem{
			At: Position{File: name}, Code: "too-many",
			Message: fmt.Sprintf("%d more problems are not shown", p.unreported),
		})
	}
	if p.failed {
		return nil, p.problems
	}
	return f, p.problems
}

// envoyParser reads one file.
type envoyParser struct {
	file       string
	problems   []Problem
	unreported int
	failed     bool // a problem was more than a warning
	budget     int  // fields that may yet be read; see spend
	checked    bool // checkKeys has been through the file
	tooDeep    bool
	interned   map[string]string
}

func (p *envoyParser) parse(data []byte) *EnvoyFile {
	if why := tooLarge(data); why != "" {
		p.failYAML(Position{File: p.file, Line: 1, Column: 1}, why, "split it; with --merge-domains or MERGE_DOMAIN_CONFIG=true several files may share a domain")
		return nil
	}
	root, ok := p.load(data)
	if !ok {
		return nil
	}
	f := &EnvoyFile{Name: p.file, sum: sha256.Sum256(data)}
	if root != nil && !p.checkKeys(root) {
		return nil
	}
	p.readFile(f, root)
	return f
}

// tooLarge says why a file is not even tried.
func tooLarge(data []byte) string {
	if len(data) > maxEnvoyBytes {
		return fmt.Sprintf("the file has %d bytes, more than %d", len(data), maxEnvoyBytes)
	}
	marks := 0
	for _, c := range data {
		switch c {
		case '\n', ',', ':', '-', '[', '{', '?': // every YAML value stands behind one of these
			marks++
		}
	}
	if marks > maxEnvoyMarks {
		return "the file has too many YAML values"
	}
	return ""
}

// load returns the first document: nil when there is nothing in it.
func (p *envoyParser) load(data []byte) (root *yaml.Node, ok bool) {
	d := yaml.NewDecoder(bytes.NewReader(data))
	root, err := yamldoc.Next(d)
	switch {
	case errors.Is(err, io.EOF):
		return nil, true
	case err != nil:
		p.failSyntax(err, data)
		return nil, false
	}
	p.warnDocuments(d)
	if root = follow(root); isNull(root) {
		return nil, true
	}
	if root.Kind != yaml.MappingNode {
		p.failYAML(p.at(root), "the top level is "+kindOf(root)+", not a map", "begin with domain: and descriptors:")
		return nil, false
	}
	return root, true
}

// warnDocuments tells when something stands behind the first document: like the
// service that the format comes from, Weir does not read it.
func (p *envoyParser) warnDocuments(d *yaml.Decoder) {
	next, err := yamldoc.Next(d)
	if errors.Is(err, io.EOF) || err == nil && isNull(next) {
		return
	}
	at := Position{File: p.file}
	if err == nil {
		at = p.at(next)
	}
	p.warn(at, "several-documents", "only the first YAML document of a file is read", "put the other documents into files of their own")
}
