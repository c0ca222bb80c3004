package admission

import "strings"

// Plain tells whether everybody reads a path alike: it has no segments that are
// empty or dots, nothing that may be read as a slash, and no escapes that may be
// read as either. A rule that lets paths pass must not judge another path than
// the one that is served: /static/../login is /login to some, and so is
// /static/..%2flogin.
func Plain(path string) bool {
	rest := strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/")
	for more := true; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/") // allocates nothing, which an iterator does
		name, _, _ := strings.Cut(segment, ";")      // some take what follows for parameters
		if name == "." || name == ".." || segment == "" && len(path) > 1 || unclear(segment) {
			return false
		}
	}
	return true
}

// unclear tells whether a segment may be more than one to whoever takes a
// backslash for a slash, or resolves escapes once more.
func unclear(segment string) bool {
	if strings.IndexByte(segment, '\\') >= 0 {
		return true
	}
	for {
		_, rest, ok := strings.Cut(segment, "%")
		if !ok {
			return false
		}
		if len(rest) >= 2 {
			switch strings.ToLower(rest[:2]) {
			case "2e", "2f", "5c", "25": // . / \ %
				return true
			}
		}
		segment = rest
	}
}
