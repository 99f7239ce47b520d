/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Strings of C++. Their functions are compiled once for all, in libstdc++, and
 * only the small ones are ever inlined. What they do to the string itself is
 * known by their names: all but a few that are not const write it.
 */
#include "pass/strings.h"
#include "pass/pass.h"

#include <string.h>

/* Where the functions' own names begin; K is const. */
static const char *const kinds[] = {"St7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE",
				    "St7__cxx1112basic_stringIwSt11char_traitsIwESaIwEE"};

/* Not const, and only look, or look at nothing. */
static const char *const lookers[] = {"5begin", "3end",   "6rbegin", "4rend",    "4data",          "2at",
				      "ix",     "5front", "4back",   "7_M_data", "13_M_local_data"};
static const char *const others[] = {"D1",
				     "D2",
				     "9_M_create",
				     "10_M_dispose",
				     "10_M_destroy",
				     "13_M_init_local",
				     "16_M_get_allocator",
				     "7_S_copy",
				     "7_S_move",
				     "9_S_assign",
				     "13_S_copy_chars",
				     "10_S_compare",
				     "12_Alloc_hider"};

static bool begins(const char *name, const char *const *with, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(name, with[i], strlen(with[i])))
			return true;
	return false;
}

#define BEGINS(name, list) begins(name, list, sizeof(list) / sizeof *(list))

/* The function's name behind that of its class; NULL: it has another class. */
static const char *own_name(const char *name, bool *is_const)
{
	if (strncmp(name, "_ZN", 3) != 0)
		return NULL;
	name += 3;
	*is_const = *name == 'K';
	name += *is_const;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strncmp(name, kinds[i], strlen(kinds[i])))
			return name + strlen(kinds[i]);
	return NULL;
}

bool strings_sets_text(const char *name)
{
	bool is_const;

	name = own_name(name, &is_const);
	return name && (!strncmp(name, "7_M_dataEP", 10) || !strncmp(name, "12_Alloc_hider", 14));
}

bool strings_keeps_nothing(const char *name)
{
	static const char *const allocator[] = {"_ZNSaIcE", "_ZNSaIwE", "_ZNKSaIcE", "_ZNKSaIwE"};
	bool is_const;

	return BEGINS(name, allocator) || (own_name(name, &is_const) && !strings_sets_text(name));
}

bool strings_gives_text(const char *name)
{
	bool is_const;

	name = own_name(name, &is_const);
	return name && (is_const || BEGINS(name, lookers) || !strncmp(name, "9_M_create", 10));
}

bool strings_may_move(const char *name)
{
	return strstr(name, "EOS4_") || strstr(name, "ERS4_");
}

bool strings_only_looks(LLVMValueRef call, const char *name)
{
	unsigned sret = LLVMGetEnumAttributeKindForName("sret", 4);
	bool is_const;

	name = own_name(name, &is_const);
	return name && is_const && strncmp(name, "4copy", 5) != 0 &&
	       LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMPointerTypeKind &&
	       !LLVMGetCallSiteEnumAttribute(call, 1, sret);
}

unsigned strings_accesses(LLVMValueRef call, const char *name, struct strings_access *accesses)
{
	unsigned sret = LLVMGetEnumAttributeKindForName("sret", 4), at = 0, count = 0;
	bool is_const;

	name = own_name(name, &is_const);
	if (!name || BEGINS(name, others))
		return 0;
	/* What it gives back comes first. */
	at = LLVMGetCallSiteEnumAttribute(call, 1, sret) ? 1 : 0;
	if (LLVMGetNumArgOperands(call) <= at)
		return 0;
	/* The other one, by reference: const, or to be moved from. */
	if (LLVMGetNumArgOperands(call) > at + 1 && (strstr(name, "ERKS4_") || strstr(name, "EOS4_")))
		accesses[count++] = (struct strings_access){at + 1, strstr(name, "EOS4_") != NULL};
	accesses[count++] = (struct strings_access){at, !is_const && !BEGINS(name, lookers)};
	return count;
}
