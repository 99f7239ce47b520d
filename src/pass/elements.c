/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Elements of the C++ library's containers. What `lots.at(name)`, `*lots.find(name)`
 * or `*lots.begin()` lead to is as much a part of the object that has `lots` for a
 * member as what a pointer member leads to. In the pristine module these are calls,
 * of functions that are given the container, or an iterator that such a call
 * has returned; they are followed back to the member.
 */
#include "pass/pass.h"

#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 8 };

static const char *container_of(LLVMValueRef pointer, int depth);

/* Their first argument is what the result leads into. Not among them: what returns something of its own,
 * as a function object or a future does, and std::weak_ptr, which owns nothing. */
static bool leads_into(LLVMValueRef callee)
{
	static const char *const prefixes[] = {"_ZNSt", "_ZNKSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx", NULL};
	static const char *const names[] = {"operator[]",  "at",           "front",      "back",
					    "data",        "begin",        "cbegin",     "rbegin",
					    "find",        "top",          "operator*",  "operator->",
					    "get",         "value",        "end",        "lower_bound",
					    "upper_bound", "emplace_back", "operator++", "operator--"};
	static const char *const others[] = {
		"_ZNSt6future",   "_ZNSt13__basic_future", "_ZNSt13shared_future", "_ZNKSt13shared_future",
		"_ZNSt8function", "_ZNSt6atomic",          "_ZNKSt6atomic",        NULL};
	LLVMMetadataRef subprogram = callee ? LLVMGetSubprogram(callee) : NULL;

	if (!subprogram || !util_named_like(callee, prefixes) || util_named_like(callee, others))
		return false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(di_name(subprogram), names[i]))
			return true;
	return false;
}

/* A call of those that returns its result, a large iterator, in this local. */
static bool is_returned_to(LLVMValueRef user, LLVMValueRef local)
{
	unsigned sret = LLVMGetEnumAttributeKindForName("sret", 4);

	return util_is_call(user) && LLVMGetNumArgOperands(user) > 1 && LLVMGetOperand(user, 0) == local &&
	       LLVMGetCallSiteEnumAttribute(user, 1, sret) && leads_into(util_callee(user));
}

/* What all that is stored to a local comes from, or NULL. */
static const char *stored_to(LLVMValueRef local, int depth)
{
	const char *found = NULL;

	for (LLVMUseRef use = LLVMGetFirstUse(local); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use), value;
		const char *one;

		/* An iterator is a struct with a pointer in it. */
		if (LLVMIsAGetElementPtrInst(user)) {
			one = stored_to(user, depth + 1);
			if (!one)
				continue;
		} else if (is_returned_to(user, local)) {
			one = container_of(LLVMGetOperand(user, 1), depth + 1);
			if (!one)
				return NULL;
		} else {
			if (!LLVMIsAStoreInst(user) || LLVMGetOperand(user, 1) != local)
				continue;
			value = LLVMGetOperand(user, 0);
			one = LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind
				      ? container_of(value, depth + 1)
				      : NULL;
			if (!one)
				return NULL;
		}
		if (found && strcmp(found, one) != 0)
			return NULL;
		found = one;
	}
	return found;
}

/* "type.member" of the container that the pointer leads to or into. */
static const char *container_of(LLVMValueRef pointer, int depth)
{
	struct cursor c;
	bool member;
	LLVMValueRef base;
	char text[2600];
	const char *type;

	if (depth > MAX_DEPTH)
		return NULL;
	base = follow(pointer, &c, &member, 0);
	if (member) {
		cursor_end(&c, 0, SHAPE_WHOLE);
		type = !c.owner ? "" : c.name && c.owner == c.named ? c.name : types_name(c.owner);
		/* A part of what the library has there, a pair in a map, is what it is a part of. */
		if (*type && !elements_librarys(type)) {
			snprintf(text, sizeof text, "%s.%s", type, c.path);
			return note_text(text);
		}
	}
	if (util_is_call(base))
		return leads_into(util_callee(base)) && LLVMGetNumArgOperands(base)
			       ? container_of(LLVMGetOperand(base, 0), depth + 1)
			       : NULL;
	if (LLVMIsALoadInst(base) && LLVMIsAAllocaInst(LLVMGetOperand(base, 0)))
		base = LLVMGetOperand(base, 0);
	return LLVMIsAAllocaInst(base) ? stored_to(base, depth + 1) : NULL;
}

const char *elements_of(LLVMValueRef pointer)
{
	struct cursor c;
	bool member;

	/* Of the container itself its own members tell. */
	return follow(pointer, &c, &member, 0) != pointer || util_is_call(pointer) || LLVMIsALoadInst(pointer)
		       ? container_of(pointer, 0)
		       : NULL;
}

bool elements_librarys(const char *type)
{
	return !strncmp(type, "std::", 5) || !strncmp(type, "__gnu_cxx::", 11);
}
