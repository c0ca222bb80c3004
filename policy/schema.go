package policy

import (
	"encoding/json"
)

// shape is a piece of JSON Schema.
type shape = map[string]any

// Schema is the JSON Schema (draft 7, which editors know best) of the native
// format, made from the tables that ParseNative reads by: a key that one knows,
// the other knows. What a schema cannot say, such as that a partition is one of
// by, only the parser checks.
func Schema() []byte {
	root := objectShape(fileFields)
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	root["title"] = "Weir policies"
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil { // maps of strings and numbers always encode
		return nil
	}
	return append(out, '\n')
}

// objectShape is the shape of a mapping with these fields and no others.
func objectShape[T any](fields []nativeField[T]) shape {
	properties, required := shape{}, []string{}
	for _, f := range fields {
		s := f.shape()
		s["description"] = f.doc
		properties[f.key] = s
		if f.must {
			required = append(required, f.key)
		}
	}
	out := shape{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

func anyOf(shapes ...shape) shape { return shape{"anyOf": shapes} }

// oneOrMore is a value or a list of them.
func oneOrMore(s shape) shape {
	return anyOf(s, shape{"type": "array", "minItems": 1, "items": s})
}

func enumShape(words []string) shape { return shape{"enum": words} }

func countShape(most int64) shape {
	return shape{"type": "integer", "minimum": 1, "maximum": most}
}

// scalarShape is a value that is read as text, however YAML types it.
func scalarShape(doc string) shape {
	return shape{"type": []string{"string", "number", "boolean"}, "description": doc}
}

func windowShape() shape {
	return shape{"type": "string", "pattern": `^[0-9]*(s|m|h|d|second|minute|hour|day)$`}
}

// limitTextPattern is ParseLimit's rule, as far as editors need it.
const limitTextPattern = `^\s*[0-9]+(/[0-9]*[a-z]+(\s+burst\s+[0-9]+|\s+[a-z_]+)*|\s+concurrency\s+[0-9]*[a-z]+)\s*$`

func limitsShape() shape {
	text := shape{
		"type": "string", "pattern": limitTextPattern,
		"examples": []string{"100/s burst 200", "3000/m", "1000/d fixed_window", "20 concurrency 30s"},
	}
	one := anyOf(text, objectShape(limitFields))
	return anyOf(
		shape{"const": unlimitedWord},
		text,
		objectShape(limitFields),
		shape{"type": "array", "minItems": 1, "maxItems": maxLimits, "items": one},
	)
}

func matchShape() shape {
	value := oneOrMore(scalarShape("A value, or a pattern with *."))
	return shape{
		"type": "object", "minProperties": 1,
		"properties":           shape{dimRoute: routesShape()},
		"additionalProperties": value,
	}
}

func routesShape() shape {
	route := oneOrMore(anyOf(shape{"type": "string", "minLength": 1}, objectShape(routeFields)))
	route["description"] = "POST /v1/orders/*, GET|HEAD /v1/*, /v1/*, a route's name, or {method, path}."
	return route
}
