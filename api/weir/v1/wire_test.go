package weirv1_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"
)

var update = flag.Bool("update", false, "write testdata/wire.txt anew")

// TestWire keeps what clients out there rely on: the names, numbers and types
// of all that is on the wire. Lines may be added; a line that changes or goes
// breaks somebody who was compiled against it.
func TestWire(t *testing.T) {
	var b strings.Builder
	for _, f := range []protoreflect.FileDescriptor{weirv1.File_weir_v1_weir_proto, weirv1.File_weir_v1_admin_proto} {
		describe(&b, f)
	}
	const golden = "testdata/wire.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	have := lines(b.String())
	for line := range lines(string(want)) {
		if !have[line] {
			t.Errorf("published, and now changed or gone: %s", line)
		}
	}
	if b.String() != string(want) && !t.Failed() {
		t.Errorf("something was added: run go test -update in this directory")
	}
}

func lines(text string) map[string]bool {
	set := map[string]bool{}
	for line := range strings.Lines(text) {
		set[strings.TrimSpace(line)] = true
	}
	return set
}

func describe(b *strings.Builder, f protoreflect.FileDescriptor) {
	for i := range f.Services().Len() {
		methods := f.Services().Get(i).Methods()
		for j := range methods.Len() {
			m := methods.Get(j)
			fmt.Fprintf(b, "rpc %s (%s%s) %s%s\n", m.FullName(),
				stream(m.IsStreamingClient()), m.Input().Name(), stream(m.IsStreamingServer()), m.Output().Name())
		}
	}
	for i := range f.Messages().Len() {
		fields := f.Messages().Get(i).Fields()
		for j := range fields.Len() {
			d := fields.Get(j)
			fmt.Fprintf(b, "field %s = %d %s %s\n", d.FullName(), d.Number(), d.Cardinality(), typeOf(d))
		}
	}
	for i := range f.Enums().Len() {
		values := f.Enums().Get(i).Values()
		for j := range values.Len() {
			fmt.Fprintf(b, "value %s = %d\n", values.Get(j).FullName(), values.Get(j).Number())
		}
	}
}

func stream(is bool) string {
	if is {
		return "stream "
	}
	return ""
}

func typeOf(d protoreflect.FieldDescriptor) string {
	switch d.Kind() {
	case protoreflect.MessageKind:
		return string(d.Message().Name())
	case protoreflect.EnumKind:
		return string(d.Enum().Name())
	}
	return d.Kind().String()
}
