package saltfile

import (
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/pseudonym"
	"github.com/weirlimit/weir/internal/reload"
)

// Loaded is what there is to say of a file that was read.
type Loaded struct {
	Ring *pseudonym.Ring
	// Late are salts that other instances may have used before this one read of
	// them: until now this one may have counted beside them.
	Late    []pseudonym.Salt
	Warning string // of how the file is kept, or empty
}

// Follow reads the file and returns what keeps its ring current. told is called
// for each that is accepted, the first one included.
func Follow(path string, told func(Loaded)) (*reload.File[*pseudonym.Ring], error) {
	var last *pseudonym.Ring // parse is called by one goroutine at a time
	parse := func(contents [][]byte) (*pseudonym.Ring, error) {
		next, err := Parse(path, contents[0])
		if err != nil {
			return nil, err
		}
		news := Loaded{Ring: next, Warning: Warning(path)}
		if last != nil {
			now := weir.MicrosAt(time.Now())
			if err := last.Accept(next, now); err != nil {
				// What is needed now need not be for ever.
				return nil, &reload.NotYet{Err: &weir.Error{Code: weir.CodeInvalid, Field: path, Message: "is refused", Err: err}}
			}
			news.Late = last.Late(next, now)
		}
		last = next
		told(news)
		return next, nil
	}
	return reload.Open(parse, path)
}
