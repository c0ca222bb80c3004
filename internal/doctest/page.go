package doctest

import (
	"fmt"
	"regexp"
	"strings"
)

// Block is a shell block of a page, with the output that the page shows for it.
type Block struct {
	Line    int // of its first line in the page, from 1
	Script  string
	Want    []string // lines of output; nil when the page shows none
	Skipped string   // why it is not run; empty when it is
}

var notRun = regexp.MustCompile(`^<!-- not run: (.+) -->$`)

// Parse returns the shell blocks of a page in Markdown, in order.
func Parse(page string) ([]Block, error) {
	var blocks []Block
	var skip string // of the comment above
	lines := strings.Split(page, "\n")
	for i := 0; i < len(lines); i++ {
		language, fenced := strings.CutPrefix(lines[i], "```")
		if !fenced {
			if m := notRun.FindStringSubmatch(lines[i]); m != nil {
				skip = m[1]
			} else if strings.TrimSpace(lines[i]) != "" {
				skip = ""
			}
			continue
		}
		start := i + 1
		for i = start; i < len(lines) && lines[i] != "```"; i++ {
		}
		if i == len(lines) {
			return nil, fmt.Errorf("line %d: the block has no end", start)
		}
		body := lines[start:i]
		switch language {
		case "sh":
			blocks = append(blocks, Block{Line: start + 1, Script: strings.Join(body, "\n") + "\n", Skipped: skip})
		case "console":
			if len(blocks) == 0 || blocks[len(blocks)-1].Want != nil {
				return nil, fmt.Errorf("line %d: output without a shell block of its own", start)
			}
			blocks[len(blocks)-1].Want = body
		}
		skip = ""
	}
	return blocks, nil
}

// missing returns the first line that is wanted and was not printed after those
// before it; ok when there is none.
func missing(want []string, printed string) (line string, ok bool) {
	rest := strings.Split(strings.ReplaceAll(printed, "\r\n", "\n"), "\n")
	for _, line := range want {
		if strings.TrimSpace(line) == "" || strings.TrimSpace(line) == "..." {
			continue
		}
		found := false
		for len(rest) > 0 && !found {
			found, rest = fits(line, rest[0]), rest[1:]
		}
		if !found {
			return line, false
		}
	}
	return "", true
}

// fits tells whether a printed line is what a page shows, in which ... stands for
// any text. Blanks at the end do not count.
func fits(line, printed string) bool {
	const blank = " \t\r"
	parts := strings.Split(strings.TrimRight(line, blank), "...")
	rest, ok := strings.CutPrefix(strings.TrimRight(printed, blank), parts[0])
	if len(parts) == 1 || !ok {
		return ok && rest == ""
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] { // the first place leaves most for the others
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, parts[last])
}
