// Protogen generates Go from the .proto files below a directory:
//
//	protogen [-check] [-go COMMAND] ROOT
//
// It compiles them itself, so that nothing but Go is needed and the result does
// not depend on which protoc a machine has, and hands them to protoc-gen-go and
// protoc-gen-go-grpc, pinned as tools of this module; run it inside of it. Each
// file must say what every message, field, enum, value, service and method of
// it is for: one without a comment is an error.
//
// With -check nothing is written, and a file that would change is an error.
package main
