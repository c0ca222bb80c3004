// Command weir is the one binary of Weir.
//
//	weir serve           answer gateways over gRPC and HTTP
//	weir check           ask a running server whether a request may pass
//	weir lint            find what is wrong or doubtful in policy files
//	weir explain         say which rules a request meets, and why
//	weir config print    print what weir serve would run with
//	weir apikey          make API keys, and the entries of the file that knows them
//	weir doctor          say what to change about a Redis before counting in it
//	weir try             decide on a limit and watch what happens
//	weir version         say which build this is
//	weir completion      write completions for a shell
//	weir man             write manual pages, for those who make packages
//
// Every flag can also be given as an environment variable, which its help
// names; the flag wins. Those of serve can also stand in a file, which --settings
// names; variables win over it. Secrets have no flag: a command line is seen by
// every user of a machine. Results go to the standard output and nothing else
// does.
//
// It exits with 0 when it did what it was asked, 1 when it could not, and 2
// when it was asked for something that cannot be. A denied request is a result,
// not a failure; check tells it by exiting with 3. An error says what to do next.
// An interrupt ends it at once, with 1; serve finishes what is under way first.
//
// This package reads flags and the environment, and no other does: the rest of
// Weir is told its settings.
package main
