// Package admin is the debug and admin listener's http.Handler: what an
// operator, a probe or Prometheus asks a Weir process.
//
//	/              what there is
//	/livez         200 while the process can answer at all
//	/readyz        200 ready; 503 starting or draining, with the reasons as JSON
//	/healthcheck   OK, or 500: what envoyproxy/ratelimit answers
//	/metrics       for Prometheus
//	/stats         the counters as text, name: value
//	/rlconfig      the loaded policies as text
//	/config        version, files and problems as JSON
//	/switch        what is forced past its limits; POST forces and lifts
//	/debug/pprof/  profiles
//
// Health, the state behind /readyz, is also what a gRPC health service follows.
//
// # Who may ask
//
// The listener belongs on loopback; there is no authentication. What is guarded
// against is a browser on the same machine: a request is refused when its Host
// is a name that was not allowed (DNS rebinding always comes with a name), or
// when another site's page makes it. Nothing but /switch changes the process, and no
// page shows the command line, the environment or a credential.
//
// # Concurrency and failure
//
// All of it is safe for concurrent use. A page that cannot be made is answered
// whole with 500, or 503 when it is too early, never in part. Importing
// net/http/pprof registers its pages on http.DefaultServeMux, too: no listener
// of Weir serves that one.
package admin
