package main

import (
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// table writes a line per setting, for people.
func (p *printed) table(w io.Writer) error {
	head := []string{"NAME", "VALUE", "SOURCE"}
	rows := [][]string{head}
	for _, s := range p.flags {
		value, ok := s.Value.(string)
		if list, many := s.Value.([]string); many {
			value, ok = strings.Join(list, " "), true
		}
		if !ok || value == "" {
			value = "-"
		}
		rows = append(rows, []string{s.Name, value, s.Source})
	}
	for _, s := range p.secrets {
		value, source := "-", "default"
		switch {
		case s.File != "":
			value = s.File
		case s.Set:
			value = notShown
		}
		if s.Set {
			source = "variable " + s.Variable
		}
		rows = append(rows, []string{s.Variable, value, source})
	}
	for _, v := range p.peer {
		switch {
		case v.NoEffect == "":
			rows = append(rows, []string{v.Variable, v.text(), "variable " + v.Variable})
		case p.sources: // without the reason it would look as if it had one
			rows = append(rows, []string{v.Variable, v.text(), "no effect: " + v.NoEffect})
		}
	}
	if !p.sources {
		for i := range rows {
			rows[i] = rows[i][:2]
		}
	}
	return writeTable(w, rows)
}

// yaml writes a file for --settings.
func (p *printed) yaml(w io.Writer) error {
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, s := range p.flags {
		if s.Name == settingsFlag {
			continue // its contents are in the others
		}
		k, v := new(yaml.Node), new(yaml.Node)
		k.SetString(s.Name)
		if err := v.Encode(s.Value); err != nil {
			return fmt.Errorf("write setting %s: %w", s.Name, err)
		}
		if list, many := s.Value.([]string); many {
			v.Style = yaml.FlowStyle
			if len(list) == 0 && s.Source == "default" {
				continue
			}
		}
		if p.sources {
			v.LineComment = s.Source
		}
		if s.Hidden {
			k.HeadComment = "A secret was taken out of this value."
		}
		root.Content = append(root.Content, k, v)
	}
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return err
	}
	return enc.Close()
}
