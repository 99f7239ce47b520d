/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Locals that are strings of C++, and whether another thread can reach them.
 * The library's functions are known to keep no pointer to a string, whatever
 * LLVM can see of them. But a short string has a pointer to itself: its text
 * lies in it. So what is loaded from it leads back into it, and who is given
 * the string can keep that, though LLVM says that he keeps no copy of what he was given.
 *
 * A pointer leads to the string's beginning, where its own pointer lies, or
 * somewhere behind, where there is none: its length, its text, a block that has its text.
 */
#include "pass/pass.h"
#include "pass/strings.h"

#include <string.h>

enum { MOST = 256 };

enum where { BEGINNING, BEHIND };

struct way {
	LLVMValueRef value;
	enum where where;
};

struct look {
	LLVMValueRef string;
	struct way ways[MOST];
	unsigned count;
	bool changes_hands; /* its text may come from another string, or become another's */
};

/* False if there is no room, or it leads to both. */
static bool add(struct look *look, LLVMValueRef value, enum where where)
{
	for (unsigned i = 0; i < look->count; i++)
		if (look->ways[i].value == value)
			return look->ways[i].where == where;
	if (look->count == MOST)
		return false;
	look->ways[look->count++] = (struct way){value, where};
	return true;
}

bool strings_is_local(LLVMValueRef value)
{
	static const char name[] = "class.std::__cxx11::basic_string";
	LLVMTypeRef type = LLVMIsAAllocaInst(value) ? LLVMGetAllocatedType(value) : NULL;
	const char *own =
		type && LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMGetStructName(type) : NULL;

	if (!own || strncmp(own, name, sizeof name - 1) != 0)
		return false;
	own += sizeof name - 1;
	return (!*own || *own == '.') && LLVMIsAConstantInt(LLVMGetOperand(value, 0)) &&
	       LLVMConstIntGetZExtValue(LLVMGetOperand(value, 0)) == 1;
}

static bool is_pointer(LLVMValueRef value)
{
	return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind;
}

/* Steps of a known number of bytes, from the beginning. */
static bool step(struct look *look, LLVMValueRef gep)
{
	LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
	LLVMValueRef index = LLVMGetOperand(gep, 1);
	bool bytes = LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 8;

	if (LLVMGetNumOperands(gep) != 2 || !bytes || !LLVMIsAConstantInt(index))
		return false;
	if (LLVMConstIntGetSExtValue(index) == 0)
		return add(look, gep, BEGINNING);
	return LLVMConstIntGetSExtValue(index) >= 8 && LLVMConstIntGetSExtValue(index) < STRINGS_SIZE &&
	       add(look, gep, BEHIND);
}

static bool load(struct look *look, LLVMValueRef load, enum where where)
{
	if (where == BEHIND)
		return true;
	/* As something else than a pointer it would not be followed. */
	return is_pointer(load) && add(look, load, BEHIND);
}

/* A place in the string, what was loaded from it, or a block that was made for it. */
static bool is_own_text(const struct look *look, LLVMValueRef text)
{
	LLVMValueRef base = private_base(text), callee;
	const char *name;
	size_t length;

	if (base == look->string)
		return true;
	for (unsigned i = 0; i < look->count; i++)
		if (look->ways[i].value == base)
			return true;
	callee = util_is_call(base) ? util_callee(base) : NULL;
	if (!callee)
		return false;
	name = LLVMGetValueName2(callee, &length);
	return !strcmp(name, "_Znwm") || (strings_keeps_nothing(name) && strings_gives_text(name) &&
					  LLVMGetOperand(base, 0) == look->string);
}

/* The pointer is one of the two. */
static bool store(struct look *look, LLVMValueRef value, LLVMValueRef to, LLVMValueRef pointer,
		  enum where where)
{
	if (value == pointer)
		return where == BEHIND && to == look->string;
	look->changes_hands |= where == BEGINNING && !is_own_text(look, value);
	return true;
}

static bool is_delete(const char *name)
{
	return !strncmp(name, "_ZdlPv", 6) || !strncmp(name, "_ZdaPv", 6);
}

static bool is_copy(LLVMValueRef call)
{
	return util_is_intrinsic(call, "llvm.memcpy") || util_is_intrinsic(call, "llvm.memmove");
}

static bool call(struct look *look, LLVMValueRef call, LLVMValueRef pointer, enum where where)
{
	LLVMValueRef callee = util_callee(call);
	const char *name;
	size_t length;

	name = callee ? LLVMGetValueName2(callee, &length) : "";
	if (LLVMGetCalledValue(call) == pointer)
		return false;
	if (util_is_intrinsic(call, "llvm.lifetime") || util_is_intrinsic(call, "llvm.memset"))
		return true;
	if (is_copy(call))
		return where == BEHIND || LLVMGetOperand(call, 1) != pointer;
	if (strings_sets_text(name) && LLVMGetNumArgOperands(call) > 1)
		return store(look, LLVMGetOperand(call, 1), LLVMGetOperand(call, 0), pointer, where);
	if (strings_keeps_nothing(name)) {
		look->changes_hands |= where == BEGINNING && strings_may_move(name);
		if (is_pointer(call))
			return add(look, call, strings_gives_text(name) ? BEHIND : BEGINNING);
		return LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMStructTypeKind;
	}
	if (where == BEGINNING)
		return false;
	return is_delete(name) || !strncmp(name, "__atomsan_", 10) || !private_captured(call, pointer);
}

/* False: the pointer gets away. */
static bool follow_use(struct look *look, LLVMValueRef user, LLVMValueRef pointer, enum where where)
{
	if (!LLVMIsAInstruction(user))
		return false;
	switch (LLVMGetInstructionOpcode(user)) {
	case LLVMLoad:
		return !LLVMIsAtomic(user) && load(look, user, where);
	case LLVMStore:
		return !LLVMIsAtomic(user) &&
		       store(look, LLVMGetOperand(user, 0), LLVMGetOperand(user, 1), pointer, where);
	case LLVMICmp:
		return true;
	case LLVMGetElementPtr:
		return where == BEHIND ? add(look, user, BEHIND) : step(look, user);
	case LLVMPHI:
	case LLVMSelect:
		return where == BEHIND && add(look, user, BEHIND);
	case LLVMCall:
	case LLVMInvoke:
		return call(look, user, pointer, where);
	default:
		return false;
	}
}

enum strings_fate strings_fate(LLVMValueRef local)
{
	struct look look = {.string = local, .ways = {{local, BEGINNING}}, .count = 1};

	for (unsigned i = 0; i < look.count; i++)
		for (LLVMUseRef use = LLVMGetFirstUse(look.ways[i].value); use; use = LLVMGetNextUse(use))
			if (!follow_use(&look, LLVMGetUser(use), look.ways[i].value, look.ways[i].where))
				return STRINGS_GETS_AWAY;
	return look.changes_hands ? STRINGS_STAYS : STRINGS_STAYS_WITH_TEXT;
}
