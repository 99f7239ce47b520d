# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A program may have any name of its own: those that the runtime uses inside, and
# those that it stands before.
. "$(dirname "$0")/lib.sh"
need nm ar
program >a.c
runtime=$("$ATOMSAN" cc --print runtime)

# Every symbol that the runtime's sources define outside, but for the promised prefix.
nm --defined-only "$runtime" | awk '$3 ~ /^[a-z][a-z0-9_]*$/ && $2 ~ /^[TtDdBb]$/ { print $3 }' | sort -u >inside
[ "$(wc -l <inside)" -gt 50 ] || fail "too few names to be a test: $(wc -l <inside)"
nm --defined-only --extern-only "$runtime" | awk '$3 !~ /^__atomsan_/ && $2 !~ /^[WV]$/' >strong
same "names outside that a program cannot have" "" "$(cat strong)"
nm --defined-only --extern-only "$runtime" | awk '{ print $3 }' | sort -u >outside
comm -23 inside outside >own
sed 's/.*/int &;/' own >own.c
"$ACC" -w a.c own.c -o one || fail "names of the runtime collide with the program's"
watched ./one
same "output" 2 "$(cat output)"

# An allocator, as source and from an archive, and a function that does not return.
cat >alloc.c <<'END'
#include <stddef.h>
#include <string.h>
static _Alignas(16) char pool[1 << 20];
static size_t used;
size_t pool_used(void) { return used; }
void *malloc(size_t n)
{
	size_t at = (used + 15) & ~(size_t)15;
	used = at + n;
	return used > sizeof pool ? NULL : pool + at;
}
void free(void *p) { (void)p; }
void *calloc(size_t a, size_t b) { return malloc(a * b); }
void *realloc(void *p, size_t n)
{
	void *q = malloc(n);
	return p && q ? memcpy(q, p, n) : q;
}
END
cat >user.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
size_t pool_used(void);
_Noreturn void abort(void) { _exit(7); }
int main(void)
{
	size_t before = pool_used();
	char *volatile p = malloc(100);
	p[0] = 1;
	puts(pool_used() >= before + 100 ? "mine" : "not mine");
	fflush(stdout);
	abort();
}
END
"$ACC" -c alloc.c user.c
ar rcs liballoc.a alloc.o
for how in 'user.o alloc.o' 'user.o -L. -lalloc'; do
	"$ACC" $how -o two || fail "a program with its own malloc does not link ($how)"
	s=0
	./two >output || s=$?
	same "exit status, which comes from the program's own abort" 7 $s
	same "the allocator that is used ($how)" mine "$(cat output)"
done
