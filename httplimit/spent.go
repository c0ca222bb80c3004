package httplimit

import "github.com/weirlimit/weir"

// spend marks units as spent already: they are charged whether they fit or not.
func spend(d *weir.Descriptor) { d.Spent = true }
