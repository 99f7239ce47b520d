/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which calls may synchronise, wait or talk to the world outside: calls of
 * functions that this unit does not define, unless they are known to do nothing
 * of the kind; calls through pointers; and calls of functions of this unit that
 * make such calls themselves.
 */
#include "pass/functions.h"
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

/* What synchronises for certain, beside taking locks: what runtime and model know as such. */
static const char *const operations[] = {
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
	return acquires_or_gives_back(name);
}

static bool is_in(const char *list, const char *name, size_t length)
{
	char word[64];

	if (length + 3 > sizeof word)
		return false;
	snprintf(word, sizeof word, " %.*s ", (int)length, name);
	return strstr(list, word) != NULL;
}

static bool is_listed(const char *name, size_t length)
{
	return is_in(names, name, length);
}

static bool is_known(const char *name)
{
	size_t length;

	/* What the C library's headers make of scanf and strtol. */
	if (!strncmp(name, "__isoc99_", 9) || !strncmp(name, "__isoc23_", 9))
		name += 9;
	/* Healing may wait. */
	if (!strncmp(name, "__atomsan_heal_", 15))
		return false;
	length = strlen(name);
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return is_listed(name, length) ||
	       (length > 2 && strchr("fl", name[length - 1]) && is_listed(name, length - 1));
}

/* Attribute pure or const. */
bool calls_only_read(LLVMValueRef call)
{
	LLVMAttributeRef memory = util_callee(call) ? util_call_attribute(call, "memory") : NULL;

	/* Of the two bits of each kind of memory the second says that it may be written. */
	return memory && !(LLVMGetEnumAttributeValue(memory) & 0xaaaaaaaa);
}

/* One that the module defines is the program's own, and may do anything. */
bool calls_allocator(LLVMValueRef call)
{
	static const char allocators[] = " aligned_alloc calloc free malloc memalign posix_memalign realloc "
					 "reallocarray ";
	/* operator new and delete, for arrays, too, whatever they are given beside a size. */
	static const char *const operators[] = {"_Znw", "_Zna", "_Zdl", "_Zda", NULL};
	LLVMValueRef callee = util_callee(call);
	size_t length;
	const char *name;

	if (!callee || !LLVMIsDeclaration(callee))
		return false;
	name = LLVMGetValueName2(callee, &length);
	return util_named_like(callee, operators) || is_in(allocators, name, length);
}

/* Never comes back, or only looks at memory? */
static bool is_harmless(LLVMValueRef call)
{
	return calls_only_read(call) || util_call_attribute(call, "noreturn");
}

/* ---- functions that this unit calls ---- */

struct node {
	bool synchronises; /* or may */
	bool surely;       /* it has a way to a call that does */
};
struct edge {
	size_t from, to;
};
static struct functions functions;
static struct node *nodes; /* by function */
static struct edge *edges;
static size_t edge_count, edge_room;

static const struct node *node_of(LLVMValueRef function)
{
	size_t number = function ? functions_find(&functions, function) : FUNCTIONS_NONE;

	return number != FUNCTIONS_NONE ? &nodes[number] : NULL;
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
	if (!LLVMGetIntrinsicID(called) && !is_harmless(call))
		*callee = called;
	return false;
}

static void look(size_t number)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(functions.at[number]); b;
	     b = LLVMGetNextBasicBlock(b)) {
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
			LLVMValueRef callee;
			size_t to;

			if (!util_is_call(i))
				continue;
			nodes[number].synchronises |= decided(i, &callee);
			to = callee ? functions_find(&functions, callee) : FUNCTIONS_NONE;
			if (to == FUNCTIONS_NONE)
				continue;
			if (edge_count == edge_room) {
				edge_room = edge_room ? edge_room * 2 : 1024;
				edges = realloc(edges, edge_room * sizeof *edges);
			}
			edges[edge_count++] = (struct edge){number, to};
		}
	}
}

void calls_collect(LLVMModuleRef module)
{
	bool changed = true;

	calls_forget();
	functions_collect(&functions, module);
	nodes = calloc(functions.count + 1, sizeof *nodes);
	for (size_t i = 0; i < functions.count; i++) {
		size_t length;
		const char *name = LLVMGetValueName2(functions.at[i], &length);

		nodes[i] = (struct node){LLVMIsDeclaration(functions.at[i]) && !is_known(name),
					 LLVMIsDeclaration(functions.at[i]) && is_operation(name)};
	}
	for (size_t i = 0; i < functions.count; i++)
		look(i);
	while (changed) {
		changed = false;
		for (size_t i = 0; i < edge_count; i++) {
			struct node *from = &nodes[edges[i].from], *to = &nodes[edges[i].to];

			if (to->synchronises && !from->synchronises)
				from->synchronises = changed = true;
			if (to->surely && !from->surely)
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
	functions_release(&functions);
}

bool calls_synchronise(LLVMValueRef instruction)
{
	LLVMValueRef callee;
	const struct node *node;

	if (!util_is_call(instruction))
		return false;
	if (decided(instruction, &callee))
		return true;
	node = node_of(callee);
	return node && node->synchronises;
}

bool calls_surely_synchronise(LLVMValueRef instruction)
{
	LLVMValueRef callee = util_is_call(instruction) ? util_callee(instruction) : NULL;
	const struct node *node = node_of(callee);

	return node && node->surely;
}

bool calls_operation(LLVMValueRef call)
{
	LLVMValueRef callee = util_callee(call);
	size_t length;

	return callee && LLVMIsDeclaration(callee) && is_operation(LLVMGetValueName2(callee, &length));
}

bool calls_coroutine(LLVMValueRef instruction)
{
	LLVMValueRef callee = util_is_call(instruction) ? util_callee(instruction) : NULL;
	const char *name;
	size_t length;

	if (!callee)
		return false;
	name = LLVMGetValueName2(callee, &length);
	if (!strncmp(name, "llvm.coro.resume", 16))
		return true;
	/* std::coroutine_handle<...>::resume() and operator()(), in whichever namespace within std. */
	return !strncmp(name, "_ZNKSt", 6) && strstr(name, "16coroutine_handleI") &&
	       (strstr(name, "E6resumeEv") || strstr(name, "EclEv"));
}
