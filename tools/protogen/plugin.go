package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/pluginpb"
)

// The plugins, by the name of their tool. Generated files lie beside their
// sources.
var plugins = []struct{ name, parameter string }{
	{"protoc-gen-go", "paths=source_relative"},
	{"protoc-gen-go-grpc", "paths=source_relative"},
}

func generate(ctx context.Context, goCommand string, request *pluginpb.CodeGeneratorRequest) ([]*pluginpb.CodeGeneratorResponse_File, error) {
	var files []*pluginpb.CodeGeneratorResponse_File
	for _, p := range plugins {
		request.Parameter = proto.String(p.parameter)
		response, err := ask(exec.CommandContext(ctx, goCommand, "tool", p.name), request)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", p.name, err)
		}
		files = append(files, response.GetFile()...)
	}
	return files, nil
}

// ask runs one plugin: a request on its standard input, a response on its
// standard output.
func ask(cmd *exec.Cmd, request *pluginpb.CodeGeneratorRequest) (*pluginpb.CodeGeneratorResponse, error) {
	in, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(out.Bytes(), &response); err != nil {
		return nil, err
	}
	if response.Error != nil {
		return nil, errors.New(response.GetError())
	}
	return &response, nil
}
