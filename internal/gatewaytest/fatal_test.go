package gatewaytest

import (
	"fmt"
	"runtime"
	"testing"
)

// fatalTB keeps what Fatalf said in place of failing the test.
type fatalTB struct {
	testing.TB
	fatal string
}

func (f *fatalTB) Fatalf(format string, args ...any) {
	f.fatal = fmt.Sprintf(format, args...)
	runtime.Goexit()
}
