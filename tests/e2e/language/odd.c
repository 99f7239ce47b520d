/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What C has beyond plain loads and stores, each with a result that is printed. */
#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct big {
	long parts[9];
};
struct bits {
	unsigned a : 3, b : 7, c : 22;
	int64_t wide : 40;
};
typedef int four __attribute__((vector_size(16)));
typedef double eight __attribute__((vector_size(64)));

struct big big_one;
struct bits flags;
volatile int device;
four lanes[8];
eight wide_lanes[2];
__int128 huge;
long double precise;
_Thread_local int own;
_Atomic unsigned char tiny;
_Atomic uint64_t counter;
_Atomic struct pair {
	int x, y;
} pair;
uint64_t sink[64];
static const int table[] = {3, 1, 4, 1, 5};
char packed_bytes[32];

/* Handed over in memory: the call reads it. */
__attribute__((noinline)) static long by_value(struct big b)
{
	long sum = 0;

	for (int i = 0; i < 9; i++)
		sum += b.parts[i];
	b.parts[0] = sum;
	return b.parts[0];
}

__attribute__((noinline)) static struct big returned(long seed)
{
	struct big b;

	for (int i = 0; i < 9; i++)
		b.parts[i] = seed * i;
	return b;
}

__attribute__((noinline)) static long variadic(int count, ...)
{
	va_list list, again;
	long sum = 0;

	va_start(list, count);
	va_copy(again, list);
	for (int i = 0; i < count; i++)
		sum += va_arg(list, int);
	for (int i = 0; i < count; i++)
		sum += 2 * va_arg(again, int);
	va_end(again);
	va_end(list);
	return sum;
}

/* An array whose length the optimiser turns into a constant, after the entry. */
__attribute__((noinline)) static int variable_array(int n, void (*use)(int *, int))
{
	int four_times = n - n + 4;
	int array[four_times];

	use(array, four_times);
	return array[0] + array[3];
}

static void fill(int *array, int n)
{
	for (int i = 0; i < n; i++)
		array[i] = i + 1;
}

__attribute__((noinline)) static int blocks_in_a_loop(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		int *block = __builtin_alloca(sizeof(int) * (size_t)(i + 1));

		fill(block, i + 1);
		sum += block[i];
	}
	return sum;
}

static jmp_buf back;

__attribute__((noinline)) static void jump(int depth)
{
	if (!depth)
		longjmp(back, 7);
	jump(depth - 1);
	sink[0]++;
}

__attribute__((noinline)) static int computed(const char *text)
{
	static void *const steps[] = {&&add, &&twice, &&stop};
	int value = 1;

	goto *steps[*text - '0'];
add:
	value += 1;
	goto *steps[*++text - '0'];
twice:
	value *= 2;
	goto *steps[*++text - '0'];
stop:
	return value;
}

/* Vectorised with masks where the machine has them. */
__attribute__((noinline)) static void conditional(const int *from, int *to, int n)
{
	for (int i = 0; i < n; i++)
		if (from[i] & 1)
			to[i] = from[i] * 3;
}

__attribute__((noinline)) static long unaligned(void)
{
	long value;
	short half;

	memset(packed_bytes, 5, sizeof packed_bytes);
	memcpy(&value, packed_bytes + 3, sizeof value);
	memmove(packed_bytes + 1, packed_bytes + 9, 11);
	half = *(short __attribute__((aligned(1))) *)(packed_bytes + 7);
	return value + half;
}

int main(void)
{
	int from[67], to[67] = {0}, sum = 0;
	struct pair old;
	unsigned other = 5;

	big_one = returned(3);
	printf("by value %ld\n", by_value(big_one));
	flags.a = 5;
	flags.b = 100;
	flags.c += flags.b;
	flags.wide = -7;
	printf("bits %u %u %u %lld\n", flags.a, flags.b, flags.c, (long long)flags.wide);
	device = 3;
	device++;
	printf("volatile %d\n", device);
	for (int i = 0; i < 8; i++)
		lanes[i] = (four){i, i + 1, i + 2, i + 3} * 2;
	wide_lanes[1] = wide_lanes[0] + 1.5;
	printf("vectors %d %g\n", lanes[3][2], wide_lanes[1][7]);
	huge = (__int128)1 << 100;
	huge += 5;
	precise = 1.25L;
	precise *= 3;
	printf("wide %llx %Lg\n", (unsigned long long)(huge >> 96), precise);
	own += 4;
	tiny ^= 0x55;
	atomic_fetch_add_explicit(&counter, 7, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	pair = (struct pair){1, 2};
	old = pair;
	atomic_compare_exchange_strong(&pair, &old, ((struct pair){old.x + 1, old.y + 2}));
	old = pair;
	printf("atomics %d %d %llu %d %d\n", own, tiny, (unsigned long long)counter, old.x, old.y);
	printf("variadic %ld\n", variadic(4, 1, 2, 3, 4));
	printf("arrays %d %d\n", variable_array((int)own, fill), blocks_in_a_loop(9));
	if (!setjmp(back))
		jump(5);
	else
		sink[1]++;
	printf("longjmp %llu %llu\n", (unsigned long long)sink[0], (unsigned long long)sink[1]);
	printf("computed %d\n", computed("01012"));
	for (int i = 0; i < 67; i++)
		from[i] = i * table[i % 5];
	conditional(from, to, 67);
	for (int i = 0; i < 67; i++)
		sum += to[i];
	printf("conditional %d\n", sum);
	printf("unaligned %lx\n", unaligned());
	__asm__ volatile("addl $2, %0" : "+m"(device) : : "cc");
	__asm__("rorl $1, %0" : "+r"(other));
	printf("assembly %d %u\n", device, other);
	return 0;
}
