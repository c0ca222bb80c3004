package policyfile

import "testing"

func TestNames(t *testing.T) {
	var (
		plain = names{}
		all   = names{all: true}
		dots  = names{dots: true}
	)
	for _, tc := range []struct {
		name             string
		plain, all, dots bool
	}{
		{"a.yaml", true, true, true},
		{"a.yml", true, true, true},
		{"A.YAML", true, true, true},
		{"a.json", true, true, true},
		{"a.txt", false, true, false},
		{"config", false, true, false},
		{"README.md", false, true, false},
		{".a.yaml", false, false, true},
		{"..data", false, false, false},
		{"..2026_07_01_10_00_00.123456", false, false, false},
		{"..a.yaml", false, false, false},
		{".a.yaml.swp", false, false, false},
		{".a.yaml.swo", false, false, false},
		{".a.yaml.swx", false, false, false},
		{"a.yaml.swp", false, false, false},
		{"a.yaml~", false, false, false},
		{"#a.yaml#", false, false, false},
		{".#a.yaml", false, false, false},
		{"4913", false, false, false},
		{"a.yaml.tmp", false, false, false},
		{"a.yaml___jb_tmp___", false, false, false},
		{"a.yaml___jb_old___", false, false, false},
		{"a.yaml.bak", false, true, false},
	} {
		if got := plain.accepts(tc.name); got != tc.plain {
			t.Errorf("%s is accepted: %v", tc.name, got)
		}
		if got := all.accepts(tc.name); got != tc.all {
			t.Errorf("%s is accepted among all: %v", tc.name, got)
		}
		if got := dots.accepts(tc.name); got != tc.dots {
			t.Errorf("%s is accepted among dot files: %v", tc.name, got)
		}
	}
}

func TestRuntimeDir(t *testing.T) {
	for _, tc := range [][4]string{
		{"", "", "", "/srv/runtime_data/current/config"},
		{"/data", "ratelimit", "", "/data/ratelimit/config"},
		{"/data", "ratelimit", "rules", "/data/ratelimit/rules"},
		{"/data/", "", "rules/", "/data/rules"},
	} {
		if got := RuntimeDir(tc[0], tc[1], tc[2]); got != tc[3] {
			t.Errorf("RuntimeDir(%q, %q, %q) = %s, want %s", tc[0], tc[1], tc[2], got, tc[3])
		}
	}
}
