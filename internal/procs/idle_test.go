package procs

import (
	"testing"
	"time"
)

func TestIdlers(t *testing.T) {
	var rest int64
	known := true
	i := idlers{ask: func() (int64, bool) { return rest, known }}
	at := time.Now()
	if i.look(at); i.count != many {
		t.Errorf("%v idle at the first look, which says nothing", i.count)
	}
	rest += 150
	if i.look(at.Add(window / 4)); i.count != many {
		t.Errorf("%v idle too soon", i.count)
	}
	if i.look(at.Add(window)); i.count != 1.5 {
		t.Errorf("%v idle, want 1.5", i.count)
	}
	if i.look(at.Add(2 * window)); i.count != 0 {
		t.Errorf("%v idle, want none", i.count)
	}
	if i.look(at.Add(10 * window)); i.count != many {
		t.Errorf("%v idle after a look long ago", i.count)
	}
	known = false
	if i.look(at.Add(11 * window)); i.count != many {
		t.Errorf("%v idle where it is not known", i.count)
	}
}
