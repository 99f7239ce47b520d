# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# No flag of ours is the reason for a warning, in any stage.
. "$(dirname "$0")/lib.sh"
program >a.c
printf '.globl nothing\nnothing:\n\tret\n\t.section .note.GNU-stack,"",@progbits\n' >n.s
strict="-Werror -Weverything -Wno-everything -Wunused-command-line-argument -Wunused-macros -Wreserved-macro-identifier"
for level in -O0 -O2; do
	"$ACC" $strict $level -c a.c -o a.o
	"$ACC" $strict $level -E a.c -o a.i
	"$ACC" $strict $level -c a.i -o ai.o
	"$ACC" $strict $level -S a.c -o a.s
	"$ACC" $strict -M a.c >deps
	"$ACC" $strict -fsyntax-only a.c
	"$ACC" $strict -c n.s -o n.o
	"$ACC" $strict -Wl,--fatal-warnings a.o n.o -o prog
	watched ./prog
	"$ACC" $strict -shared -fPIC -Wl,--fatal-warnings a.c -o a.so
	"$ACC" $strict -r a.o n.o -o r.o
done
# Flags for compiling are given when linking, too, in many makefiles.
flags=$("$ATOMSAN" cc --print cflags)
eval "$clang -Werror $flags a.o -c -o /dev/null" 2>log && fail "clang does not complain of an object with -c any more"
eval "$clang -Werror $flags -o prog a.o $("$ATOMSAN" cc --print ldflags)" || fail "cflags disturb a link"
watched ./prog
