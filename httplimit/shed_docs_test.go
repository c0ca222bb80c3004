package httplimit_test

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/policy"
	"github.com/weirlimit/weir/shed"
)

// TestSheddingPage: what docs/load-shedding.md has readers copy works, and what
// there is to set is there.
func TestSheddingPage(t *testing.T) {
	data, err := os.ReadFile("../docs/load-shedding.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(page, -1) {
		f, problems := policy.ParseNative("page", []byte(block[1]))
		if len(problems) == 0 {
			files := []*policy.File{{Name: "page", Native: f}}
			_, problems = policy.Compile(files, policy.Options{})
			problems = append(problems, policy.Lint(files)...)
		}
		if len(problems) > 0 {
			t.Errorf("%s\n%v", block[1], problems)
		}
	}
	source, err := os.ReadFile("example_shed_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(source), "// begin docs/load-shedding.md\n")
	code, _, ok := strings.Cut(code, "\t// end\n")
	code = strings.ReplaceAll(strings.ReplaceAll("\n"+code, "\n\t", "\n"), "../examples/policies/", "")
	if !ok || !strings.Contains(page, "```go"+code+"```\n") {
		t.Errorf("the page does not have the example:\n%s", code)
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[shed.Options]()) {
		if !strings.Contains(page, "`"+f.Name+"`") {
			t.Errorf("option %s is not on the page", f.Name)
		}
	}
	for r := shed.Overload; int(r) < shed.Reasons; r++ {
		if !strings.Contains(page, "`"+r.String()+"`") {
			t.Errorf("reason %v is not on the page", r)
		}
	}
	for i := range weir.Priorities {
		if p := shed.Test + shed.Priority(i); !strings.Contains(page, "| `"+p.String()+"` |") {
			t.Errorf("priority %v is not on the page", p)
		}
	}
}
