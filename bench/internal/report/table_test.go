package report

import "testing"

func TestTableLinesUp(t *testing.T) {
	got := Table{
		Head: []string{"library", "ns"},
		Rows: [][]string{{"a", "1"}, {"löng name here", "12345"}},
	}.Markdown()
	want := "" +
		"| library        |    ns |\n" +
		"| -------------- | ----: |\n" +
		"| a              |     1 |\n" +
		"| löng name here | 12345 |\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTableOfText(t *testing.T) {
	got := Table{Head: []string{"b", "m", "n"}, Rows: [][]string{{"x", "long", "1"}}, Text: 2}.Markdown()
	want := "" +
		"| b   | m    |   n |\n" +
		"| --- | ---- | --: |\n" +
		"| x   | long |   1 |\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTableWithoutRows(t *testing.T) {
	if got, want := (Table{Head: []string{"bar"}}).Markdown(), "| bar |\n| --- |\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
