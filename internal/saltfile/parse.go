package saltfile

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/pseudonym"
	"github.com/weirlimit/weir/internal/yamldoc"
)

// maxBytes bounds a file: a salt takes some 120 bytes.
const maxBytes = 64 << 10

// secretText is strict: bits beyond the 256 must be zero, or one salt would have
// two texts.
var secretText = base64.StdEncoding.Strict()

// Parse reads a file of salts. The error is a *weir.Error whose Field is the
// place, as name:line.
func Parse(name string, data []byte) (*pseudonym.Ring, error) {
	p := parser{name: name, lines: map[string]int{}}
	if len(data) > maxBytes {
		return nil, p.wrong(1, "is this the right file?", "is larger than %d bytes", maxBytes)
	}
	root, err := yamldoc.Next(yaml.NewDecoder(bytes.NewReader(data)))
	if errors.Is(err, io.EOF) {
		return nil, p.wrong(1, madeHint, "is empty")
	}
	if err != nil {
		return nil, &weir.Error{
			Code: weir.CodeInvalid, Field: name, Message: strings.TrimPrefix(err.Error(), "yaml: "), Hint: madeHint,
		}
	}
	c, err := p.config(root)
	if err != nil {
		return nil, err
	}
	ring, err := pseudonym.New(c)
	if err != nil {
		return nil, p.located(err)
	}
	return ring, nil
}

const madeHint = "weir salt new makes such a file"

type parser struct {
	name  string
	lines map[string]int // where a field of pseudonym.Config stands
}

func (p *parser) wrong(line int, hint, format string, args ...any) error {
	return &weir.Error{
		Code: weir.CodeInvalid, Field: fmt.Sprintf("%s:%d", p.name, line), Message: fmt.Sprintf(format, args...), Hint: hint,
	}
}

// located says where in the file an error of pseudonym.New has its cause.
func (p *parser) located(err error) error {
	e, ok := err.(*weir.Error)
	if !ok {
		return err
	}
	field := e.Field
	return p.wrong(max(1, p.lines[field]), e.Hint, "%s: %s", field, e.Message)
}

// config reads the top level.
func (p *parser) config(n *yaml.Node) (c pseudonym.Config, err error) {
	return c, p.fields(n, "the file", "", map[string]func(*yaml.Node) error{
		"overlap":   func(v *yaml.Node) error { return p.span(v, "overlap", &c.Overlap) },
		"retention": func(v *yaml.Node) error { return p.span(v, "retention", &c.Retention) },
		"slots":     func(v *yaml.Node) error { return p.secret(v, "slots", &c.Slots) },
		"salts":     func(v *yaml.Node) error { return p.salts(v, &c) },
	}, "slots", "salts")
}

func (p *parser) salts(n *yaml.Node, c *pseudonym.Config) error {
	if n.Kind != yaml.SequenceNode {
		return p.wrong(n.Line, madeHint, "salts: want a list")
	}
	for i, item := range n.Content {
		if i == pseudonym.MaxSalts {
			return p.wrong(item.Line, "weir salt rotate removes those that are no longer needed", "salts: more than %d", i)
		}
		var s pseudonym.Salt
		at := fmt.Sprintf("salts[%d].", i)
		if err := p.fields(item, fmt.Sprintf("salts[%d]", i), at, map[string]func(*yaml.Node) error{
			"id":   func(v *yaml.Node) error { return p.text(v, at+"id", &s.ID) },
			"from": func(v *yaml.Node) error { return p.instant(v, at+"from", &s.From) },
			"salt": func(v *yaml.Node) error { return p.secret(v, at+"salt", &s.Secret) },
		}, "id", "from", "salt"); err != nil {
			return err
		}
		c.Salts = append(c.Salts, s)
	}
	return nil
}

// fields reads a mapping of which every key is known and there once.
func (p *parser) fields(n *yaml.Node, what, prefix string, known map[string]func(*yaml.Node) error, required ...string) error {
	if n.Kind != yaml.MappingNode {
		return p.wrong(n.Line, madeHint, "%s: want a mapping", what)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		read, ok := known[k.Value]
		switch {
		case k.Kind != yaml.ScalarNode || !ok:
			// What is not a key may be a secret in the wrong place: do not say it.
			return p.wrong(k.Line, "the keys are "+strings.Join(keyOrder, ", "), "%s has a key that is not known", what)
		case seen[k.Value]:
			return p.wrong(k.Line, "keep one of them", "%s stands twice", k.Value)
		}
		seen[k.Value], p.lines[prefix+k.Value] = true, k.Line
		if err := read(v); err != nil {
			return err
		}
	}
	for _, name := range required {
		if !seen[name] {
			return p.wrong(n.Line, madeHint, "%s has no %s", what, name)
		}
	}
	return nil
}

// keyOrder is how a file is written.
var keyOrder = []string{"overlap", "retention", "slots", "salts", "id", "from", "salt"}

func (p *parser) text(n *yaml.Node, what string, into *string) error {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || n.Value == "" {
		return p.wrong(n.Line, "", "%s: want a text", what)
	}
	*into = n.Value
	return nil
}

func (p *parser) span(n *yaml.Node, what string, into *weir.Micros) error {
	var text string
	if err := p.text(n, what, &text); err != nil {
		return err
	}
	span, err := weir.ParseWindow(text)
	if err != nil || span <= 0 {
		return p.wrong(n.Line, "use s, m, h or d, for example 1m", "%s: is not a span of time", what)
	}
	*into = span
	return nil
}

func (p *parser) instant(n *yaml.Node, what string, into *weir.Micros) error {
	var text string
	if err := p.text(n, what, &text); err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return p.wrong(n.Line, "for example 2026-11-15T12:00:00Z", "%s: is not an instant", what)
	}
	*into = weir.MicrosAt(at)
	return nil
}

func (p *parser) secret(n *yaml.Node, what string, into *pseudonym.Secret) error {
	var text string
	if err := p.text(n, what, &text); err != nil {
		return err
	}
	data, err := secretText.DecodeString(text)
	if err != nil || len(data) != pseudonym.SecretBytes || strings.ContainsAny(text, "\r\n") { // which base64 skips
		return p.wrong(n.Line, "openssl rand -base64 32 makes some", "%s: is not %d bytes in base64", what, pseudonym.SecretBytes)
	}
	*into = pseudonym.Secret(data)
	if *into == (pseudonym.Secret{}) {
		return p.wrong(n.Line, "openssl rand -base64 32 makes some", "%s: is all zeros", what)
	}
	return nil
}
