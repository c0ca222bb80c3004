package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// compile reads the files and all they import, and puts together what plugins
// of protoc are asked.
func compile(ctx context.Context, root string, files []string) (*pluginpb.CodeGeneratorRequest, error) {
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{root}}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	compiled, err := compiler.Compile(ctx, files...)
	if err != nil {
		return nil, err
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: files}
	seen := map[string]bool{}
	for _, f := range compiled {
		if err := undocumented(f); err != nil {
			return nil, err
		}
		request.ProtoFile = withImports(request.ProtoFile, f, seen)
	}
	return request, nil
}

// withImports appends f behind the files it imports, each once: the order that
// plugins want.
func withImports(to []*descriptorpb.FileDescriptorProto, f protoreflect.FileDescriptor, seen map[string]bool) []*descriptorpb.FileDescriptorProto {
	if seen[f.Path()] {
		return to
	}
	seen[f.Path()] = true
	for i := range f.Imports().Len() {
		to = withImports(to, f.Imports().Get(i).FileDescriptor, seen)
	}
	return append(to, protoutil.ProtoFromFileDescriptor(f))
}

// undocumented returns an error for every element of f that has no comment.
func undocumented(f protoreflect.FileDescriptor) error {
	var wrong []error
	say := func(d protoreflect.Descriptor) {
		if at := f.SourceLocations().ByDescriptor(d); at.LeadingComments == "" && at.TrailingComments == "" {
			wrong = append(wrong, fmt.Errorf("%s:%d: %s has no comment", f.Path(), at.StartLine+1, d.FullName()))
		}
	}
	for i := range f.Services().Len() {
		say(f.Services().Get(i))
		for j := range f.Services().Get(i).Methods().Len() {
			say(f.Services().Get(i).Methods().Get(j))
		}
	}
	enums(f.Enums(), say)
	messages(f.Messages(), say)
	return errors.Join(wrong...)
}

func enums(all protoreflect.EnumDescriptors, say func(protoreflect.Descriptor)) {
	for i := range all.Len() {
		say(all.Get(i))
		for j := range all.Get(i).Values().Len() {
			say(all.Get(i).Values().Get(j))
		}
	}
}

func messages(all protoreflect.MessageDescriptors, say func(protoreflect.Descriptor)) {
	for i := range all.Len() {
		m := all.Get(i)
		if m.IsMapEntry() {
			continue
		}
		say(m)
		for j := range m.Fields().Len() {
			say(m.Fields().Get(j))
		}
		enums(m.Enums(), say)
		messages(m.Messages(), say)
	}
}
