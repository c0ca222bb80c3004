#include "textflag.h"

// func Lines(address uintptr)
TEXT ·Lines(SB), NOSPLIT, $0-8
	MOVQ address+0(FP), AX
	PREFETCHT0 (AX)
	PREFETCHT0 64(AX)
	RET
