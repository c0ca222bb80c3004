package yamldoc

import (
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// Next reads the next document of dec and returns its content; io.EOF when there
// is none, or nothing in it.
func Next(dec *yaml.Decoder) (root *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, fmt.Errorf("yaml: not understood: %v", p)
		}
	}()
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, io.EOF
	}
	return doc.Content[0], nil
}
