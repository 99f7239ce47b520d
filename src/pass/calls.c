/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which calls may synchronise, wait or talk to the world outside: calls of
 * functions that this unit does not define, unless they are known to do nothing
 * of the kind; calls through pointers; and calls of functions of this unit that
 * make such calls themselves.
 */
#include "pass/pass.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- functions that are known to compute, copy or allocate ---- */

/* Of mathematics, the variants for float and long double end in f and l. */
static const char names[] =
	" "
	"__ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __dynamic_cast "
	"__errno_location __memcpy_chk __memmove_chk __memset_chk __snprintf_chk "
	"__sprintf_chk __strcat_chk __strcpy_chk __strncat_chk __strncpy_chk __vsnprintf_chk "
	"__vsprintf_chk abs acos acosh aligned_alloc asin asinh asprintf atan atan2 atanh "
	"atexit atof atoi atol atoll bcmp bcopy bzero calloc cbrt ceil clock clock_gettime "
	"copysign cos cosh difftime div drand48 erand48 erf exp exp2 expm1 fabs fdim ffs "
	"floor fma fmax fmin fmod free frexp getenv getpid gettimeofday gmtime_r hypot "
	"imaxabs isalnum isalpha isascii isblank iscntrl isdigit isgraph islower isprint "
	"ispunct isspace isupper isxdigit labs ldexp ldiv lgamma llabs llrint llround "
	"localtime_r log log10 log1p log2 lrint lround malloc malloc_usable_size memalign "
	"memccpy memchr memcmp memcpy memmem memmove mempcpy memrchr memset mktime modf "
	"nearbyint nextafter nrand48 posix_memalign pow pthread_attr_destroy "
	"pthread_attr_init pthread_attr_setdetachstate pthread_attr_setstacksize "
	"pthread_equal pthread_getspecific pthread_self pthread_setspecific rand rand_r "
	"random rawmemchr realloc reallocarray remainder rint round scalbn sched_getcpu sin "
	"sinh snprintf sprintf sqrt srand srandom sscanf stpcpy stpncpy strcasecmp "
	"strcasestr strcat strchr strchrnul strcmp strcoll strcpy strcspn strdup strerror "
	"strftime strlen strncasecmp strncat strncmp strncpy strndup strnlen strpbrk strrchr "
	"strsep strspn strstr strtod strtof strtok strtok_r strtol strtold strtoll strtoul "
	"strtoull strxfrm swab tan tanh tgamma time toascii tolower toupper trunc vasprintf "
	"vsnprintf vsprintf vsscanf wcscmp wcscpy wcslen wmemcpy ";

/* Parts of the C++ library that lie in the library itself, and the compiler's helpers. */
static const char *const prefixes[] = {
	"_Znw",
	"_Zna",
	"_Zdl",
	"_Zda",
	"__cxa_",
	"_Unwind_",
	"__atomic_",
	"__atomsan_",
	"llvm.",
	"_ZNSt7__cxx1112basic_string",
	"_ZNKSt7__cxx1112basic_string",
	"_ZNSs",
	"_ZNKSs",
	"_ZNSt8__detail",
	"_ZNKSt8__detail",
	"_ZNSaI",
	"_ZSt11_Hash_bytes",
	"_ZSt18_Rb_tree_",
	"_ZSt20_Rb_tree_",
	"_ZSt28_Rb_tree_",
	"_ZSt29_Rb_tree_",
	"_ZNSt9exception",
	"_ZNSt15__exception_ptr",
};

/* What synchronises for certain: what runtime and model know as such. */
static const char *const operations[] = {
	"pthread_mutex_lock",
	"pthread_mutex_trylock",
	"pthread_mutex_timedlock",
	"pthread_mutex_clocklock",
	"pthread_mutex_unlock",
	"pthread_rwlock_",
	"pthread_spin_",
	"pthread_cond_wait",
	"pthread_cond_timedwait",
	"pthread_cond_clockwait",
	"pthread_cond_signal",
	"pthread_cond_broadcast",
	"pthread_barrier_wait",
	"pthread_create",
	"pthread_join",
	"pthread_once",
	"sem_post",
	"sem_wait",
	"sem_trywait",
	"sem_timedwait",
	"sem_clockwait",
	"mtx_lock",
	"mtx_trylock",
	"mtx_timedlock",
	"mtx_unlock",
	"cnd_",
	"thrd_create",
	"thrd_join",
	"call_once",
	"_ZNSt18condition_variable",
	"_ZNSt6thread",
};

static bool is_operation(const char *name)
{
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
		if (!strncmp(name, operations[i], strlen(operations[i])))
			return true;
	return false;
}

static bool is_listed(const char *name, size_t length)
{
	char word[64];

	if (length + 3 > sizeof word)
		return false;
	snprintf(word, sizeof word, " %.*s ", (int)length, name);
	return strstr(names, word) != NULL;
}

static bool is_known(const char *name)
{
	size_t length;

	/* What the C library's headers make of scanf and strtol. */
	if (!strncmp(name, "__isoc99_", 9) || !strncmp(name, "__isoc23_", 9))
		name += 9;
	length = strlen(name);
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return is_listed(name, length) ||
	       (length > 2 && strchr("fl", name[length - 1]) && is_listed(name, length - 1));
}

static LLVMAttributeRef attribute(LLVMValueRef call, LLVMValueRef callee, const char *name)
{
	unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
	LLVMAttributeRef at = LLVMGetCallSiteEnumAttribute(call, LLVMAttributeFunctionIndex, kind);

	return at ? at : LLVMGetEnumAttributeAtIndex(callee, LLVMAttributeFunctionIndex, kind);
}

/* Attribute pure or const. */
bool calls_only_read(LLVMValueRef call)
{
	LLVMValueRef callee = util_callee(call);
	LLVMAttributeRef memory = callee ? attribute(call, callee, "memory") : NULL;

	/* Of the two bits of each kind of memory the second says that it may be written. */
	return memory && !(LLVMGetEnumAttributeValue(memory) & 0xaaaaaaaa);
}

/* Never comes back, or only looks at memory? */
static bool is_harmless(LLVMValueRef call, LLVMValueRef callee)
{
	return calls_only_read(call) || attribute(call, callee, "noreturn");
}

/* ---- functions that this unit calls ---- */

struct node {
	LLVMValueRef function;
	bool synchronises; /* or may */
	bool surely;       /* it has a way to a call that does */
};
struct edge {
	LLVMValueRef from, to;
};
static struct node *nodes;
static size_t node_count;
static struct edge *edges;
static size_t edge_count, edge_room;

static int by_function(const void *a, const void *b)
{
	const struct node *one = a, *other = b;

	return one->function < other->function ? -1 : one->function > other->function;
}

static struct node *node_of(LLVMValueRef function)
{
	struct node key = {.function = function};

	return node_count ? bsearch(&key, nodes, node_count, sizeof *nodes, by_function) : NULL;
}

/* Does a call synchronise, as far as itself shows? *callee: a function that decides. */
static bool decided(LLVMValueRef call, LLVMValueRef *callee)
{
	LLVMValueRef called = LLVMGetCalledValue(call);

	*callee = NULL;
	if (LLVMIsAInlineAsm(called))
		return false;
	if (!LLVMIsAFunction(called))
		return true;
	if (!LLVMGetIntrinsicID(called) && !is_harmless(call, called))
		*callee = called;
	return false;
}

static bool is_call(LLVMValueRef instruction)
{
	return LLVMIsACallInst(instruction) || LLVMIsAInvokeInst(instruction);
}

static void look(struct node *node)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(node->function); b; b = LLVMGetNextBasicBlock(b)) {
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
			LLVMValueRef callee;

			if (!is_call(i))
				continue;
			node->synchronises |= decided(i, &callee);
			if (!callee)
				continue;
			if (edge_count == edge_room) {
				edge_room = edge_room ? edge_room * 2 : 1024;
				edges = realloc(edges, edge_room * sizeof *edges);
			}
			edges[edge_count++] = (struct edge){node->function, callee};
		}
	}
}

void calls_collect(LLVMModuleRef module)
{
	size_t room = 0;
	bool changed = true;

	calls_forget();
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
		const char *name;
		size_t length;

		if (node_count == room) {
			room = room ? room * 2 : 256;
			nodes = realloc(nodes, room * sizeof *nodes);
		}
		name = LLVMGetValueName2(f, &length);
		nodes[node_count++] = (struct node){f, LLVMIsDeclaration(f) && !is_known(name),
						    LLVMIsDeclaration(f) && is_operation(name)};
	}
	if (node_count)
		qsort(nodes, node_count, sizeof *nodes, by_function);
	for (size_t i = 0; i < node_count; i++)
		look(&nodes[i]);
	while (changed) {
		changed = false;
		for (size_t i = 0; i < edge_count; i++) {
			struct node *from = node_of(edges[i].from), *to = node_of(edges[i].to);

			if (to && to->synchronises && !from->synchronises)
				from->synchronises = changed = true;
			if (to && to->surely && !from->surely)
				from->surely = changed = true;
		}
	}
	free(edges);
	edges = NULL;
	edge_count = edge_room = 0;
}

void calls_forget(void)
{
	free(nodes);
	nodes = NULL;
	node_count = 0;
}

bool calls_synchronise(LLVMValueRef instruction)
{
	LLVMValueRef callee;
	struct node *node;

	if (!is_call(instruction))
		return false;
	if (decided(instruction, &callee))
		return true;
	node = callee ? node_of(callee) : NULL;
	return node && node->synchronises;
}

bool calls_surely_synchronise(LLVMValueRef instruction)
{
	LLVMValueRef callee = is_call(instruction) ? util_callee(instruction) : NULL;
	struct node *node = callee ? node_of(callee) : NULL;

	return node && node->surely;
}
