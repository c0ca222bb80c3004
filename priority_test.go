package weir_test

import (
	"testing"

	"github.com/weirlimit/weir"
)

func TestPriority(t *testing.T) {
	var zero weir.Priority
	if zero != weir.PriorityWrite {
		t.Errorf("the zero value is %v", zero)
	}
	all := []weir.Priority{weir.PriorityTest, weir.PriorityRead, weir.PriorityWrite, weir.PriorityCritical}
	for i, name := range []string{"test", "read", "write", "critical"} {
		p := all[i]
		if p.Index() != i || p.String() != name {
			t.Errorf("%s: index %d, name %s", name, p.Index(), p)
		}
		if i > 0 && all[i-1] >= p {
			t.Errorf("%v is not below %v", all[i-1], p)
		}
		for _, text := range []string{name, string(name[0]-'a'+'A') + name[1:]} {
			if got, ok := weir.ParsePriority(text); !ok || got != p {
				t.Errorf("%q is read as %v, %v", text, got, ok)
			}
		}
	}
	for _, text := range []string{"", "urgent", "critical ", "3"} {
		if p, ok := weir.ParsePriority(text); ok || p != weir.PriorityWrite {
			t.Errorf("%q is read as %v, %v", text, p, ok)
		}
	}
	if weir.Priority(-100).String() != "test" || weir.Priority(100).Index() != 3 {
		t.Error("what is out of range is not brought into it")
	}
	for method, want := range map[string]weir.Priority{
		"GET": weir.PriorityRead, "HEAD": weir.PriorityRead, "OPTIONS": weir.PriorityRead,
		"POST": weir.PriorityWrite, "DELETE": weir.PriorityWrite, "get": weir.PriorityWrite, "": weir.PriorityWrite,
	} {
		if got := weir.MethodPriority(method); got != want {
			t.Errorf("%q is a %v", method, got)
		}
	}
}
