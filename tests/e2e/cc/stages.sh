# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Each stage by itself gives what clang gives, up to the instrumentation.
. "$(dirname "$0")/lib.sh"
cat >value.h <<'END'
#define VALUE 42
END
cat >a.c <<'END'
#include "value.h"
int value(void) { return VALUE; }
END
echo 'int other(void) { return 1; }' >b.c

"$clang" -E a.c >expected
"$ACC" -E a.c >found
cmp expected found || fail "-E differs"
for flag in -M -MM; do
	"$clang" $flag a.c >expected
	"$ACC" $flag a.c >found
	cmp expected found || fail "$flag differs"
done
"$ACC" -c -MMD -MF deps a.c && "$clang" -c -MMD -MF expected a.c
cmp expected deps || fail "-MMD differs"
"$clang" -E -dM a.c | sort >expected
"$ACC" -E -dM a.c | sort >found
same "macros that are new" '#define __ATOMSAN__ 1' "$(comm -13 expected found)"
same "macros that are gone" '' "$(comm -23 expected found)"
"$ACC" -E -dM -U__ATOMSAN__ a.c | grep __ATOMSAN__ && fail "the user's -U does not win"

"$ACC" -S -O2 a.c -o a.s && grep -q 'value' a.s || fail "-S fails"
"$ACC" -S -O2 a.c -o - | grep -q atomsan_bc || fail "-S to standard output fails"
"$ACC" -fsyntax-only a.c || fail "-fsyntax-only fails"
"$ACC" -c a.c b.c
instrumented a.o a.c
instrumented b.o b.c
"$ACC" -r a.o b.o -o both.o
instrumented both.o a.c b.c
for level in 0 1 2 3 s z g; do
	"$ACC" -O$level -c a.c -o a$level.o
	instrumented a$level.o a.c
done
"$ACC" -emit-llvm -S a.c -o a.ll && grep -q '^source_filename' a.ll || fail "-emit-llvm fails"

# Nothing is linked in where there is no libc to stand before.
echo 'void _start(void) { for (;;) ; }' >bare.c
"$ACC" -nostdlib -ffreestanding '-###' bare.c 2>commands
grep -q dynamic-list commands && fail "the runtime is linked into a program without libc"

# Questions are answered as clang answers them.
for question in --version -v -dumpversion -dumpmachine -print-search-dirs -print-prog-name=ld \
	-print-file-name=libc.so --print-resource-dir; do
	"$clang" $question >expected 2>&1
	"$ACC" $question >found 2>&1
	cmp expected found || fail "$question differs"
done
