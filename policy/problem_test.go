package policy

import (
	"fmt"
	"strings"
	"testing"
)

func TestProblemText(t *testing.T) {
	for _, tc := range []struct {
		problem Problem
		want    string
	}{
		{Problem{At: Position{"f.yaml", 3, 5}, Message: "bad", Hint: "do good"}, "f.yaml:3:5: bad (do good)"},
		{Problem{At: Position{"f.yaml", 3, 5}, Message: "bad"}, "f.yaml:3:5: bad"},
		{Problem{At: Position{"f.yaml", 3, 0}, Message: "bad"}, "f.yaml:3: bad"},
		{Problem{At: Position{"f.yaml", 0, 7}, Message: "bad"}, "f.yaml: bad"},
		{Problem{Message: "bad", Hint: "do good"}, "bad (do good)"},
		{Problem{At: Position{"f.yaml", 3, 5}, Message: "bad", Warning: true}, "f.yaml:3:5: bad"},
	} {
		if got := fmt.Sprint(tc.problem); got != tc.want || tc.problem.Error() != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}

func TestSortProblems(t *testing.T) {
	at := func(file string, line, column int) Position { return Position{file, line, column} }
	ps := []Problem{
		{At: at("b", 1, 1), Message: "1"},
		{At: at("a", 10, 1), Message: "2"},
		{At: at("a", 2, 9), Message: "3", Warning: true},
		{At: at("a", 2, 9), Message: "4"},
		{At: at("a", 2, 1), Message: "5"},
		{At: at("a", 2, 9), Message: "0", Warning: true},
	}
	SortProblems(ps)
	var got []string
	for _, p := range ps {
		got = append(got, p.Message)
	}
	if want := "5 4 0 3 2 1"; strings.Join(got, " ") != want {
		t.Errorf("sorted %v, want %s", got, want)
	}
}

func TestHasErrors(t *testing.T) {
	warning, fault := Problem{Warning: true}, Problem{}
	for _, tc := range []struct {
		problems []Problem
		want     bool
	}{
		{nil, false},
		{[]Problem{warning}, false},
		{[]Problem{warning, fault}, true},
	} {
		if got := HasErrors(tc.problems); got != tc.want {
			t.Errorf("%v: %v", tc.problems, got)
		}
	}
}
