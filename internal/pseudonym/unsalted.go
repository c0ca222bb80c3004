package pseudonym

// Unsalted is the ring of processes that were given no salts: its secrets are
// in the source code. It keeps addresses out of sight and not secret, since who
// tries all of them finds each; and it is the same everywhere, so that programs
// with one Redis share their counters.
func Unsalted() *Ring { return unsalted }

var unsalted = &Ring{config: Config{
	Salts:   []Salt{{ID: "unsalted", Secret: Secret([]byte("weir: no salt was given (names) "))}},
	Slots:   Secret([]byte("weir: no salt was given (slots) ")),
	Overlap: DefaultOverlap, Retention: DefaultRetention,
}}
