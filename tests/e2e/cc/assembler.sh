# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Assembler sources, with and without the preprocessor, alone and among others.
. "$(dirname "$0")/lib.sh"
program | sed 's/^int main/int answer(void);\nint main/; s/"%d.n", sum/"%d\\n", sum + answer()/' >main.c
cat >answer.S <<'END'
#define ANSWER 40
	.text
	.globl answer
	.type answer, @function
answer:
	movl $ANSWER, %eax
	ret
	.size answer, .-answer
	.section .note.GNU-stack,"",@progbits
END
"$ACC" -c answer.S -o answer.o || fail "cannot assemble .S"
"$ACC" main.c answer.o -o one
watched ./one
same "output" 42 "$(cat output)"
"$ACC" main.c answer.S -o two
watched ./two
"$clang" -E answer.S -o answer.s
"$ACC" -g0 main.c answer.s -o three
watched ./three
instrumented three main.c
"$ACC" -S main.c -o main.s
"$ACC" main.s answer.s -o four
watched ./four
same "output by way of assembler" 42 "$(cat output)"
"$ACC" -no-integrated-as -c main.c -o gas.o
"$ACC" gas.o answer.o -o five
watched ./five
instrumented five main.c
