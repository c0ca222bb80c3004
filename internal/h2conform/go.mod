// HTTP/2 conformance of the fast lane, apart from the library: who imports Weir
// inherits no test suite of another.
module github.com/weirlimit/weir/internal/h2conform

go 1.26.0

replace github.com/weirlimit/weir => ../../

require (
	github.com/summerwind/h2spec v2.2.1+incompatible
	github.com/weirlimit/weir v0.0.0-00010101000000-000000000000
)

require (
	github.com/fatih/color v1.19.0 // indirect
	github.com/mattn/go-colorable v0.1.14 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	google.golang.org/grpc v1.85.0 // indirect
)
