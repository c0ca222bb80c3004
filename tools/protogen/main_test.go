package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const documented = `syntax = "proto3";
package p;
option go_package = "example.com/p";

// A message.
message M {
  // A field.
  int64 f = 1;
}

// A service.
service S {
  // A method.
  rpc Do(M) returns (M);
}
`

// fresh makes a job whose root has these files.
func fresh(t *testing.T, files map[string]string) *job {
	t.Helper()
	j := &job{root: t.TempDir(), goCommand: "go"}
	for name, text := range files {
		j.write(t, name, text)
	}
	return j
}

func (j *job) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(j.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (j *job) fails(t *testing.T, want string) {
	t.Helper()
	if err := j.run(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
}

func TestGenerateThenCheck(t *testing.T) {
	j := fresh(t, map[string]string{"p/p.proto": documented})
	j.check = true
	j.fails(t, "p/p.pb.go is not what its .proto file gives")

	j.check = false
	if err := j.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	j.check = true
	if err := j.run(context.Background()); err != nil {
		t.Errorf("check after generate: %v", err)
	}

	j.write(t, "p/old_grpc.pb.go", "package p\n")
	j.fails(t, "p/old_grpc.pb.go belongs to no .proto file")
	if err := os.Remove(filepath.Join(j.root, "p/old_grpc.pb.go")); err != nil {
		t.Fatal(err)
	}
	j.write(t, "p/p.proto", strings.Replace(documented, "f = 1", "f = 2", 1))
	j.fails(t, "p/p.pb.go is not what its .proto file gives")
}

func TestEveryElementNeedsAComment(t *testing.T) {
	for comment, name := range map[string]string{
		"// A message.": "p.M", "// A field.": "p.M.f", "// A service.": "p.S", "// A method.": "p.S.Do",
	} {
		j := fresh(t, map[string]string{"p.proto": strings.Replace(documented, comment, "", 1)})
		j.fails(t, name+" has no comment")
	}
}

func TestNothingToGenerate(t *testing.T) {
	fresh(t, nil).fails(t, "no .proto file")
	fresh(t, map[string]string{"p.proto": "syntax ="}).fails(t, "p.proto:1")
}
