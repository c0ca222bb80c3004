package yamldoc_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/weirlimit/weir/internal/yamldoc"
)

func TestNext(t *testing.T) {
	dec := yaml.NewDecoder(strings.NewReader("a: 1\n---\n- b\n"))
	for _, want := range []yaml.Kind{yaml.MappingNode, yaml.SequenceNode} {
		if n, err := yamldoc.Next(dec); err != nil || n.Kind != want {
			t.Errorf("%v, %v, want kind %v", n, err, want)
		}
	}
	if n, err := yamldoc.Next(dec); !errors.Is(err, io.EOF) {
		t.Errorf("behind the last: %v, %v", n, err)
	}
	if n, err := yamldoc.Next(yaml.NewDecoder(strings.NewReader("a: [1"))); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("broken: %v, %v", n, err)
	}
}

// panicking is a reader that breaks whoever reads from it.
type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("broken") }

func TestPanicIsAnError(t *testing.T) {
	if n, err := yamldoc.Next(yaml.NewDecoder(panicking{})); err == nil || !strings.Contains(err.Error(), "not understood") {
		t.Errorf("%v, %v", n, err)
	}
}

func FuzzNext(f *testing.F) {
	f.Add([]byte("a: &x [*x]\n---\n? b\n"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		dec := yaml.NewDecoder(bytes.NewReader(data))
		for range 10 {
			if _, err := yamldoc.Next(dec); err != nil {
				return
			}
		}
	})
}
