package policy

import (
	"fmt"
	"regexp"
	"slices"
)

// valid is as much of JSON Schema as Schema uses: it fails on a word it does
// not know, so that no rule goes unchecked.
func valid(schema map[string]any, v any) error {
	for word, arg := range schema {
		if err := validWord(schema, word, arg, v); err != nil {
			return err
		}
	}
	return nil
}

func validWord(schema map[string]any, word string, arg, v any) error {
	switch word {
	case "$schema", "title", "description", "examples":
		return nil
	case "type":
		return validType(arg, v)
	case "enum", "const":
		if list, ok := arg.([]any); ok && slices.Contains(list, v) || arg == v {
			return nil
		}
		return fmt.Errorf("%v is not %v", v, arg)
	case "anyOf":
		var last error
		for _, s := range arg.([]any) {
			if last = valid(s.(map[string]any), v); last == nil {
				return nil
			}
		}
		return last
	case "pattern":
		if s, ok := v.(string); ok && !regexp.MustCompile(arg.(string)).MatchString(s) {
			return fmt.Errorf("%q does not match %s", s, arg)
		}
		return nil
	case "minimum", "minLength", "minItems", "minProperties":
		return validBound(v, func(n float64) bool { return n >= arg.(float64) }, word)
	case "maximum", "maxLength", "maxItems":
		return validBound(v, func(n float64) bool { return n <= arg.(float64) }, word)
	case "items":
		list, _ := v.([]any)
		for _, e := range list {
			if err := valid(arg.(map[string]any), e); err != nil {
				return err
			}
		}
		return nil
	case "required":
		m, _ := v.(map[string]any)
		for _, key := range arg.([]any) {
			if _, ok := m[key.(string)]; m != nil && !ok {
				return fmt.Errorf("no %s", key)
			}
		}
		return nil
	case "propertyNames":
		m, _ := v.(map[string]any)
		for key := range m {
			if err := valid(arg.(map[string]any), key); err != nil {
				return err
			}
		}
		return nil
	case "properties", "additionalProperties":
		return validProperties(schema, v)
	}
	return fmt.Errorf("the schema has %q, which this test does not know", word)
}

func validType(arg, v any) error {
	is := map[string]bool{}
	switch v := v.(type) {
	case string:
		is["string"] = true
	case bool:
		is["boolean"] = true
	case float64:
		is["number"], is["integer"] = true, v == float64(int64(v))
	case []any:
		is["array"] = true
	case map[string]any:
		is["object"] = true
	}
	names, ok := arg.([]any)
	if !ok {
		names = []any{arg}
	}
	if !slices.ContainsFunc(names, func(n any) bool { return is[n.(string)] }) {
		return fmt.Errorf("%v is no %v", v, arg)
	}
	return nil
}

func validBound(v any, ok func(float64) bool, word string) error {
	n := 0.0
	switch v := v.(type) {
	case float64:
		n = v
	case string:
		n = float64(len(v))
	case []any:
		n = float64(len(v))
	case map[string]any:
		n = float64(len(v))
	}
	if !ok(n) {
		return fmt.Errorf("%v breaks %s", v, word)
	}
	return nil
}

func validProperties(schema map[string]any, v any) error {
	m, _ := v.(map[string]any)
	known, _ := schema["properties"].(map[string]any)
	for key, e := range m {
		s, ok := known[key].(map[string]any)
		if !ok {
			if s, ok = schema["additionalProperties"].(map[string]any); !ok {
				return fmt.Errorf("no key %s", key)
			}
		}
		if err := valid(s, e); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}
