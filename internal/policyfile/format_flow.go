package policyfile

// flowKeys reads the keys at the top of a mapping in braces, which begins on
// the first line of data. It knows strings and comments, and stops where the
// mapping ends.
func flowKeys(data []byte, line int) []topKey {
	s := flowScanner{data: data, line: line, column: 1}
	for s.at < len(data) && !s.done {
		s.step()
	}
	return s.keys
}

type flowScanner struct {
	data         []byte
	at           int
	line, column int
	depth        int
	done         bool
	keys         []topKey

	// The word that may turn out to be a key: it does when a colon follows.
	word    topKey
	isValue bool // after a colon, until a comma
}

func (s *flowScanner) step() {
	c := s.data[s.at]
	switch c {
	case '{', '[':
		s.depth++
		s.word = topKey{}
		s.isValue = s.isValue && s.depth > 1
	case '}', ']':
		s.depth--
		s.done = s.depth == 0
	case '"', '\'':
		s.quoted(c)
		return
	case '#':
		if s.at == 0 || isSpace(s.data[s.at-1]) {
			s.comment()
			return
		}
	case ',':
		if s.depth == 1 {
			s.word, s.isValue = topKey{}, false
		}
	case ':':
		if s.depth == 1 && !s.isValue && s.word.name != "" {
			s.keys = append(s.keys, s.word)
			s.isValue = true
		}
	default:
		if s.depth == 1 && !s.isValue && !isSpace(c) {
			s.plain()
			return
		}
	}
	s.advance()
}

func (s *flowScanner) advance() {
	if s.data[s.at] == '\n' {
		s.line, s.column = s.line+1, 0
	}
	s.at++
	s.column++
}

// quoted passes over a string, and takes it as a word at the top.
func (s *flowScanner) quoted(quote byte) {
	word := topKey{line: s.line, column: s.column}
	s.advance()
	start := s.at
	for s.at < len(s.data) && s.data[s.at] != quote {
		if s.data[s.at] == '\\' && quote == '"' && s.at+1 < len(s.data) {
			s.advance()
		}
		s.advance()
	}
	word.name = string(s.data[start:s.at])
	if s.at < len(s.data) {
		s.advance()
	}
	if s.depth == 1 && !s.isValue {
		s.word = word
	}
}

// plain takes an unquoted word.
func (s *flowScanner) plain() {
	s.word = topKey{line: s.line, column: s.column}
	start := s.at
	for s.at < len(s.data) && !isSpace(s.data[s.at]) && !isFlowMark(s.data[s.at]) {
		s.advance()
	}
	s.word.name = string(s.data[start:s.at])
}

func (s *flowScanner) comment() {
	for s.at < len(s.data) && s.data[s.at] != '\n' {
		s.advance()
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isFlowMark(c byte) bool {
	switch c {
	case '{', '}', '[', ']', ',', ':':
		return true
	}
	return false
}
