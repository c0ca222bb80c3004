package pages

import (
	"reflect"
	"syscall"
)

// size is that of a large page. Where it is another, the system takes the advice
// for what it is worth.
const size = 2 << 20

// What madvise is told: to use large pages here, and, since Linux 6.1, to do so now
// for what is in use already.
const (
	hugePage = 14
	collapse = 25
)

// Large asks for large pages for all of memory but its ends. What is in it stays.
func Large(memory []byte) {
	at := reflect.ValueOf(memory).Pointer()
	skip := -at & (size - 1) // to where a page may begin
	if uintptr(len(memory)) < skip+size {
		return
	}
	memory = memory[skip:]
	memory = memory[:len(memory)&^(size-1)]
	if syscall.Madvise(memory, hugePage) == nil {
		_ = syscall.Madvise(memory, collapse) // an older kernel does it by and by
	}
}
