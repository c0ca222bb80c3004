// Package frameworks shows httplimit in the routers and frameworks that Go
// programs use. Each file is one of them, as docs/frameworks.md shows it; each
// test starts it and asks until it is denied.
package frameworks
