package reqlist

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/weirlimit/weir"
)

// Writer writes a list. Make one with NewWriter, and Flush it at the end.
type Writer struct {
	to    *bufio.Writer
	line  []byte
	count int
}

// NewWriter begins a list.
func NewWriter(to io.Writer) *Writer {
	w := &Writer{to: bufio.NewWriter(to)}
	_, _ = w.to.WriteString(magic + " " + version + "\n") // Flush tells
	return w
}

// Full tells whether the list has all that it may have.
func (w *Writer) Full() bool { return w.count == MaxRequests }

// Count is how many requests were written.
func (w *Writer) Count() int { return w.count }

// Write adds a request. What Read would refuse is an error.
func (w *Writer) Write(r *weir.Request) error {
	w.line = appendLine(w.line[:0], r)
	var read weir.Request
	switch err := parse(string(w.line[:len(w.line)-1]), &read); {
	case w.Full():
		return fmt.Errorf("write requests: a list has at most %d", MaxRequests)
	case err != nil:
		return fmt.Errorf("write requests: request %d: %w", w.count+1, err)
	case len(w.line) > MaxLine || w.line[0] == '#':
		return fmt.Errorf("write requests: request %d is longer than a line may be, or its domain begins with #", w.count+1)
	}
	w.count++
	_, err := w.to.Write(w.line)
	return err
}

// Flush writes what is held back.
func (w *Writer) Flush() error { return w.to.Flush() }

func appendLine(b []byte, r *weir.Request) []byte {
	b = append(b, escapeValue.Replace(r.Domain)...)
	b = strconv.AppendInt(append(b, '\t'), r.Cost, 10)
	for i := range r.Descriptors {
		b = append(b, '\t')
		for j, p := range r.Descriptors[i].Pairs {
			if j > 0 {
				b = append(b, ',')
			}
			b = append(b, escapeName.Replace(p.Name)...)
			b = append(append(b, '='), escapeValue.Replace(p.Value)...)
		}
	}
	return append(b, '\n')
}

var (
	escapeName  = strings.NewReplacer(`\`, `\\`, ",", `\,`, "=", `\=`, "\t", `\t`, "\n", `\n`, "\r", `\r`)
	escapeValue = strings.NewReplacer(`\`, `\\`, ",", `\,`, "\t", `\t`, "\n", `\n`, "\r", `\r`)
)
