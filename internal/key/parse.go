package key

import (
	"errors"
	"strconv"
	"strings"

	"github.com/weirlimit/weir"
)

// ErrSyntax is returned for text that no Append wrote.
var ErrSyntax = errors.New("not a key of this form")

// Part is one text of a parsed key.
type Part struct {
	Text   string // or its SHA-256 in base64url, when Digest is set
	Digest bool
	// Slot is set for a hidden partition: Text is then the three digits of its
	// slot.
	Slot bool
}

// Parsed is what a key says.
type Parsed struct {
	Partition Part
	Shard     uint8 // of a counter that is split; else 0
	Domain    Part
	Rule      Part
	Values    []Part
	Algorithm weir.Algorithm // GCRA for TokenBucket
	Window    weir.Micros
}

// Parse is the inverse of Append: it accepts what Append writes and nothing
// else. That it exists is what makes Append injective.
func Parse(key string) (Parsed, error) {
	var p Parsed
	rest, ok := strings.CutPrefix(key, "{")
	tag, rest, closed := strings.Cut(rest, "}")
	if !ok || !closed {
		return Parsed{}, ErrSyntax
	}
	if p.Shard, tag, ok = cutShard(tag); !ok {
		return Parsed{}, ErrSyntax
	}
	if p.Partition, ok = parseTag(tag); !ok {
		return Parsed{}, ErrSyntax
	}
	var parts []Part
	for startsPart(rest) {
		var part Part
		if part, rest, ok = parsePart(rest); !ok {
			return Parsed{}, ErrSyntax
		}
		parts = append(parts, part)
	}
	if len(parts) < 2 {
		return Parsed{}, ErrSyntax
	}
	p.Domain, p.Rule, p.Values = parts[0], parts[1], parts[2:]
	if p.Algorithm, p.Window, ok = parseEnd(rest); !ok {
		return Parsed{}, ErrSyntax
	}
	return p, nil
}

func parseTag(tag string) (Part, bool) {
	if tag == string(escape) {
		return Part{}, true
	}
	if digest, ok := strings.CutPrefix(tag, string(escape)+string(digestMark)); ok {
		return Part{Text: digest, Digest: true}, isDigest(digest)
	}
	if slot, ok := strings.CutPrefix(tag, string(escape)+string(slotMark)); ok {
		return Part{Text: slot, Slot: true}, len(slot) == slotDigits && strings.Trim(slot, "0123456789abcdef") == ""
	}
	var text strings.Builder
	for {
		plain, escaped, ok := strings.Cut(tag, string(escape))
		text.WriteString(plain)
		if !ok {
			break
		}
		switch {
		case strings.HasPrefix(escaped, escapedEscape[1:]):
			text.WriteByte('%')
		case strings.HasPrefix(escaped, escapedBrace[1:]):
			text.WriteByte('}')
		default:
			return Part{}, false
		}
		tag = escaped[2:]
	}
	return Part{Text: text.String()}, text.Len() > 0 && text.Len() <= MaxLiteral
}

func startsPart(s string) bool {
	return s != "" && (s[0] == digestMark || s[0] >= '0' && s[0] <= '9')
}

func parsePart(s string) (part Part, rest string, ok bool) {
	if s[0] == digestMark {
		if len(s) < 1+digestBytes {
			return Part{}, "", false
		}
		part = Part{Text: s[1 : 1+digestBytes], Digest: true}
		return part, s[1+digestBytes:], isDigest(part.Text)
	}
	digits, rest, ok := strings.Cut(s, ":")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 0 || n > min(MaxLiteral, len(rest)) || strconv.Itoa(n) != digits {
		return Part{}, "", false
	}
	return Part{Text: rest[:n]}, rest[n:], true
}

func isDigest(text string) bool {
	if len(text) != digestBytes || strings.ContainsAny(text, "\r\n") { // which base64 skips
		return false
	}
	_, err := digests.DecodeString(text)
	return err == nil
}

func parseEnd(s string) (weir.Algorithm, weir.Micros, bool) {
	if s == "" {
		return 0, 0, false
	}
	window, err := weir.ParseWindow(s[1:])
	if err != nil || weir.WindowText(window) != s[1:] {
		return 0, 0, false
	}
	for a, letter := range letters {
		if a > 0 && letter == s[0] {
			return weir.Algorithm(a), window, true // the first of its letter
		}
	}
	return 0, 0, false
}
