package weirv1_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/weirlimit/weir"
	weirv1 "github.com/weirlimit/weir/api/weir/v1"
)

// TestVocabulary: an enum and its twin in package weir have the same numbers
// for the same names, so that edges may convert one into the other.
func TestVocabulary(t *testing.T) {
	for _, c := range []struct {
		enum   protoreflect.Enum
		prefix string
		twin   func(int) fmt.Stringer
		after  string // what the twin calls the number after the last
	}{
		{weirv1.Reason(0), "REASON_", func(n int) fmt.Stringer { return weir.Reason(n) }, "none"},
		{weirv1.Source(0), "SOURCE_", func(n int) fmt.Stringer { return weir.Source(n) }, "store"},
		{weirv1.Algorithm(0), "ALGORITHM_", func(n int) fmt.Stringer { return weir.Algorithm(n) }, "algorithm(8)"},
		{weirv1.ChargeMode(0), "CHARGE_MODE_", func(n int) fmt.Stringer { return weir.Mode(n) }, "mode(6)"},
	} {
		values := c.enum.Descriptor().Values()
		for i := range values.Len() {
			have := strings.ToLower(strings.TrimPrefix(string(values.Get(i).Name()), c.prefix))
			if have == "unspecified" {
				have = "invalid"
			}
			if want := c.twin(int(values.Get(i).Number())).String(); have != want {
				t.Errorf("%s is %d, which weir calls %s", values.Get(i).Name(), values.Get(i).Number(), want)
			}
		}
		if have := c.twin(values.Len()).String(); have != c.after {
			t.Errorf("weir has grown %s, which %s lacks", have, c.enum.Descriptor().Name())
		}
	}
}
