package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/weirlimit/weir/internal/nearest"
	"github.com/weirlimit/weir/internal/yamldoc"
)

// settingsFlag is the flag that names a file of settings.
const settingsFlag = "settings"

// maxSettings bounds a file of settings: it holds a line per flag.
const maxSettings = 1 << 20

// applySettings sets flags from a YAML file that has their names for keys. Only
// those are set that neither the command line nor a variable has set: call it
// after both. An empty path is no file.
//
//	config: [policies/, more.yaml]
//	redis: 127.0.0.1:6379
//	deadline: 5ms
func applySettings(cmd *cobra.Command, path string) error {
	if path == "" {
		return nil
	}
	data, err := readSettings(path)
	if err != nil {
		return fmt.Errorf("--%s: %w", settingsFlag, err)
	}
	s := settings{path: path, flags: cmd.Flags(), seen: map[string]bool{}}
	root, err := yamldoc.Next(yaml.NewDecoder(bytes.NewReader(data)))
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return usage("", "%s: %s", path, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if root.Kind != yaml.MappingNode {
		return s.wrong(root, "write the names of flags and their values, for example redis: 127.0.0.1:6379", "is not a mapping")
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if err := s.apply(root.Content[i], root.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func readSettings(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if len(data) > maxSettings {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxSettings)
	}
	return data, nil
}

// settings is a file of settings while it is applied.
type settings struct {
	path  string
	flags *pflag.FlagSet
	seen  map[string]bool
}

// wrong says what is wrong at a place of the file.
func (s *settings) wrong(at *yaml.Node, hint, format string, args ...any) error {
	return usage(hint, "%s:%d:%d: %w", s.path, at.Line, at.Column, fmt.Errorf(format, args...))
}

// apply sets one flag, or checks that it could.
func (s *settings) apply(k, v *yaml.Node) error {
	f := s.flags.Lookup(k.Value)
	switch {
	case k.Kind != yaml.ScalarNode || f == nil || f.Annotations[envAnnotation] == nil:
		return s.unknown(k)
	case f.Name == settingsFlag:
		return s.wrong(k, "put all settings into one", "a file of settings cannot name another")
	case s.seen[f.Name]:
		return s.wrong(k, "keep one of them", "%q stands twice", f.Name)
	}
	s.seen[f.Name] = true
	values, err := s.values(f, v)
	if err != nil || f.Changed {
		return err
	}
	if err := setFlag(s.flags, f, values); err != nil {
		return s.wrong(v, "", "%s: %w", f.Name, err)
	}
	noteSource(f, fmt.Sprintf("%s:%d", s.path, k.Line))
	return nil
}

// unknown says which flag was probably meant, or how secrets are given.
func (s *settings) unknown(k *yaml.Node) error {
	var names []string
	s.flags.VisitAll(func(f *pflag.Flag) {
		if f.Annotations[envAnnotation] != nil {
			names = append(names, f.Name)
		}
	})
	hint := ""
	if name := nearest.Of(strings.ReplaceAll(k.Value, "_", "-"), names); name != "" {
		hint = "did you mean " + name + "?"
	} else if strings.Contains(k.Value, "password") || strings.Contains(k.Value, "user") {
		hint = passwordHint
	}
	return s.wrong(k, hint, "unknown setting %q", k.Value)
}

// values are the texts to set a flag to: of a list, an item each.
func (s *settings) values(f *pflag.Flag, v *yaml.Node) ([]string, error) {
	for v.Kind == yaml.AliasNode {
		v = v.Alias
	}
	items := []*yaml.Node{v}
	if v.Kind == yaml.SequenceNode {
		if _, many := f.Value.(pflag.SliceValue); !many {
			return nil, s.wrong(v, "give one value", "%s: is a list", f.Name)
		}
		items = v.Content
	}
	texts := make([]string, 0, len(items))
	for _, item := range items {
		for item.Kind == yaml.AliasNode {
			item = item.Alias
		}
		if item.Kind != yaml.ScalarNode {
			return nil, s.wrong(item, "", "%s: want a text or a number", f.Name)
		}
		if item.Tag == "!!null" {
			return nil, s.wrong(item, `give one, or "" for none, or leave the line out`, "%s: has no value", f.Name)
		}
		texts = append(texts, item.Value)
	}
	return texts, nil
}

// setFlag sets a flag to one value or, where it takes several, to all of them.
func setFlag(flags *pflag.FlagSet, f *pflag.Flag, values []string) error {
	list, many := f.Value.(pflag.SliceValue)
	if !many {
		return shortError(flags.Set(f.Name, values[0]))
	}
	if len(values) > 0 { // marks the flag as set, which Replace does not
		if err := flags.Set(f.Name, values[0]); err != nil {
			return shortError(err)
		}
	}
	return list.Replace(values)
}

// shortError is what pflag found wrong with a value, without its words about
// the flag.
func shortError(err error) error {
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return bad.Unwrap()
	}
	return err
}
