package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	var j job
	flag.BoolVar(&j.check, "check", false, "write nothing; fail if a file would change")
	flag.StringVar(&j.goCommand, "go", "go", "the go `command` that runs the plugins")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: protogen [-check] [-go COMMAND] ROOT")
		os.Exit(2)
	}
	j.root = flag.Arg(0)
	if err := j.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

// job is what the command line asks for.
type job struct {
	root      string // the directory that import paths begin in
	goCommand string
	check     bool
}

func (j *job) run(ctx context.Context) error {
	protos, err := find(j.root, ".proto")
	if err != nil {
		return err
	}
	request, err := compile(ctx, j.root, protos)
	if err != nil {
		return err
	}
	files, err := generate(ctx, j.goCommand, request)
	if err != nil {
		return err
	}
	if j.check {
		return compare(j.root, files)
	}
	for _, f := range files {
		path := filepath.Join(j.root, filepath.FromSlash(f.GetName()))
		if err := os.WriteFile(path, []byte(f.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// find lists the files of that suffix below root, as slash-separated paths
// relative to it.
func find(root, suffix string) ([]string, error) {
	var found []string
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, suffix) {
			found = append(found, path)
		}
		return err
	})
	if err == nil && len(found) == 0 && suffix == ".proto" {
		err = fmt.Errorf("no %s file below %s", suffix, root)
	}
	return found, err
}

// compare tells in what the generated files and those below root differ.
func compare(root string, files []*pluginpb.CodeGeneratorResponse_File) error {
	var wrong []error
	fresh := map[string]bool{}
	for _, f := range files {
		fresh[f.GetName()] = true
		have, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(f.GetName())))
		if err != nil || !bytes.Equal(have, []byte(f.GetContent())) {
			wrong = append(wrong, fmt.Errorf("%s is not what its .proto file gives", f.GetName()))
		}
	}
	present, err := find(root, ".pb.go")
	if err != nil {
		return err
	}
	for _, path := range present {
		if !fresh[path] {
			wrong = append(wrong, fmt.Errorf("%s belongs to no .proto file", path))
		}
	}
	if len(wrong) > 0 {
		wrong = append(wrong, errors.New("run make generate, and delete what belongs to nothing"))
	}
	return errors.Join(wrong...)
}
