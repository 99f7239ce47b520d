/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The table of variables: what lies where, so that an address that no site
 * names (a lock, an element reached through a pointer) still has a name, and
 * variables that belong together can be told from one another.
 *
 * Entries are made at the end, of the variables that are left then. An entry
 * lives as long as its variable (SHF_LINK_ORDER, or the same group as a C++
 * variable that many units define), so that --gc-sections drops both.
 */
#include "pass/pass.h"

#include <llvm-c/Comdat.h>
#include <stdlib.h>
#include <string.h>

static LLVMContextRef context;
static LLVMTargetDataRef layout;

/* ---- which unit a variable is of ---- */

struct owner {
	LLVMMetadataRef variable;
	LLVMMetadataRef unit;
};
static struct owner *owners;
static size_t owner_count;
static LLVMMetadataRef first_unit;

static int by_variable(const void *a, const void *b)
{
	const struct owner *one = a, *other = b;

	return one->variable < other->variable ? -1 : one->variable > other->variable;
}

void variables_collect(LLVMModuleRef module)
{
	unsigned count = LLVMGetNamedMetadataNumOperands(module, "llvm.dbg.cu");
	LLVMValueRef *units = malloc((count + 1) * sizeof *units);

	LLVMGetNamedMetadataOperands(module, "llvm.dbg.cu", units);
	first_unit = count ? LLVMValueAsMetadata(units[0]) : NULL;
	owner_count = 0;
	for (unsigned i = 0; i < count; i++) {
		LLVMMetadataRef unit = LLVMValueAsMetadata(units[i]), list = di_variables(unit);
		unsigned variables = di_count(list);

		owners = realloc(owners, (owner_count + variables + 1) * sizeof *owners);
		for (unsigned v = 0; v < variables; v++)
			owners[owner_count++] = (struct owner){
				LLVMDIGlobalVariableExpressionGetVariable(di_element(list, v)), unit};
	}
	free(units);
	if (owner_count)
		qsort(owners, owner_count, sizeof *owners, by_variable);
}

const char *variables_file(LLVMMetadataRef variable)
{
	struct owner key = {variable, NULL}, *found = NULL;

	if (owner_count)
		found = bsearch(&key, owners, owner_count, sizeof *owners, by_variable);
	return di_file(found ? found->unit : first_unit);
}

/* ---- what a variable is ---- */

static bool is_lock(LLVMMetadataRef type)
{
	static const char *const names[] = {"pthread_mutex_t",
					    "pthread_rwlock_t",
					    "pthread_spinlock_t",
					    "pthread_cond_t",
					    "pthread_barrier_t",
					    "pthread_once_t",
					    "sem_t",
					    "mtx_t",
					    "cnd_t",
					    "once_flag",
					    "std::mutex",
					    "std::timed_mutex",
					    "std::recursive_mutex",
					    "std::recursive_timed_mutex",
					    "std::shared_mutex",
					    "std::shared_timed_mutex",
					    "std::condition_variable",
					    "std::_V2::condition_variable_any",
					    "std::condition_variable_any",
					    "std::once_flag",
					    NULL};

	return di_goes_by(type, names);
}

static bool is_atomic(LLVMMetadataRef type)
{
	static const char *const names[] = {"atomic_flag", "std::atomic_flag", NULL};

	return di_qualifiers(type) & DI_ATOMIC || di_goes_by(type, names) ||
	       (di_is_struct(di_strip(type)) && !strncmp(types_name(type), "std::atomic<", 12));
}

/* The type of an array's element, through all its dimensions. */
static LLVMMetadataRef element_of(LLVMMetadataRef type, unsigned *qualifiers)
{
	*qualifiers = di_qualifiers(type);
	while (di_is_array(di_strip(type))) {
		type = di_base(di_strip(type));
		*qualifiers |= di_qualifiers(type);
	}
	return type;
}

/* Made by the compiler: guards, tables, string constants. */
static bool is_artificial(const char *name)
{
	return !*name || strchr(name, '.') || !strncmp(name, "_ZGV", 4) || !strncmp(name, "_ZT", 3) ||
	       !strncmp(name, "__", 2);
}

static bool is_local(LLVMValueRef global)
{
	return LLVMGetLinkage(global) == LLVMInternalLinkage || LLVMGetLinkage(global) == LLVMPrivateLinkage;
}

static bool wanted(LLVMValueRef global, LLVMMetadataRef variable)
{
	const char *section = LLVMGetSection(global);
	size_t length;

	if (LLVMIsDeclaration(global) || LLVMIsGlobalConstant(global) || LLVMIsThreadLocal(global) ||
	    LLVMGetLinkage(global) == LLVMAvailableExternallyLinkage ||
	    LLVMGetLinkage(global) == LLVMAppendingLinkage ||
	    LLVMGetPointerAddressSpace(LLVMTypeOf(global)) || (section && !strncmp(section, "atomsan_", 8)) ||
	    (section && !strcmp(section, "llvm.metadata")) ||
	    !strncmp(LLVMGetValueName2(global, &length), "__atomsan_", 10))
		return false;
	return variable || !is_artificial(LLVMGetValueName2(global, &length));
}

/* ---- entries ---- */

static LLVMValueRef number(unsigned bits, uint64_t value)
{
	return LLVMConstInt(LLVMIntTypeInContext(context, bits), value, false);
}

static LLVMValueRef new_entry(LLVMValueRef global, LLVMMetadataRef variable)
{
	LLVMTypeRef i32 = LLVMInt32TypeInContext(context), i64 = LLVMInt64TypeInContext(context);
	LLVMTypeRef types[] = {LLVMPointerTypeInContext(context, 0), i64, i32, i32, i32, i32, i32, i32};
	LLVMTypeRef type = LLVMStructTypeInContext(context, types, 8, false);
	uint64_t size = LLVMABISizeOfType(layout, LLVMGlobalGetValueType(global)), element_size = size;
	LLVMValueRef entry = sites_new_entry(type, "atomsan_vars");
	const char *name, *tag = "";
	unsigned flags = is_local(global) ? ATOMSAN_VARIABLE_STATIC : 0, qualifiers = 0;
	size_t length;

	name = variable && *di_name(variable) ? di_name(variable)
					      : note_text(LLVMGetValueName2(global, &length));
	if (variable) {
		LLVMMetadataRef whole = di_variable_type(variable), element = element_of(whole, &qualifiers);

		/* The optimiser may have taken a variable apart, and then its type is not the part's. */
		if (size >= di_size(di_strip(whole))) {
			if (di_is_struct(di_strip(element)))
				tag = types_name(element);
			if (di_is_array(di_strip(whole)) && di_size(di_strip(element))) {
				flags |= ATOMSAN_VARIABLE_ARRAY;
				element_size = di_size(di_strip(element));
			}
		}
		flags |= is_lock(element) ? ATOMSAN_VARIABLE_LOCK : 0;
		flags |= is_atomic(element) ? ATOMSAN_VARIABLE_ATOMIC : 0;
		flags |= qualifiers & DI_VOLATILE ? ATOMSAN_VARIABLE_VOLATILE : 0;
	}

	LLVMValueRef fields[] = {
		global,
		number(64, size),
		sites_distance(entry, offsetof(struct atomsan_variable, name), name),
		sites_distance(entry, offsetof(struct atomsan_variable, file), variables_file(variable)),
		sites_distance(entry, offsetof(struct atomsan_variable, type), tag),
		number(32, variable ? LLVMDIVariableGetLine(variable) : 0),
		number(32, element_size > UINT32_MAX ? 0 : element_size),
		number(32, flags),
	};
	LLVMSetInitializer(entry, LLVMConstStructInContext(context, fields, 8, false));
	return entry;
}

/* Lets an entry share its variable's fate at link time. */
static void tie(LLVMValueRef entry, LLVMValueRef global)
{
	LLVMMetadataRef to = LLVMValueAsMetadata(global);

	if (LLVMGetComdat(global))
		LLVMSetComdat(entry, LLVMGetComdat(global));
	else
		LLVMGlobalSetMetadata(entry, LLVMGetMDKindIDInContext(context, "associated", 10),
				      LLVMMDNodeInContext2(context, &to, 1));
}

/* Is there anything but loads? */
static bool is_written(LLVMValueRef pointer, int depth)
{
	for (LLVMUseRef use = LLVMGetFirstUse(pointer); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (LLVMIsALoadInst(user) || LLVMIsAICmpInst(user))
			continue;
		if (depth < 8 && (LLVMIsAGetElementPtrInst(user) || LLVMIsAConstantExpr(user)) &&
		    !is_written(user, depth + 1))
			continue;
		return true;
	}
	return false;
}

/* A variable that is only read stays the optimiser's to fold. */
void variables_keep_whole(LLVMModuleRef module)
{
	LLVMValueRef *kept = NULL;
	unsigned count = 0, qualifiers;

	for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g)) {
		LLVMMetadataRef variable = di_global(g);

		if (!variable || !is_local(g) || !wanted(g, variable) ||
		    !di_is_struct(di_strip(element_of(di_variable_type(variable), &qualifiers))) ||
		    !is_written(g, 0))
			continue;
		kept = realloc(kept, (count + 1) * sizeof *kept);
		kept[count++] = g;
	}
	util_keep(module, "llvm.compiler.used", kept, count);
	free(kept);
}

void variables_list(LLVMModuleRef module)
{
	LLVMValueRef *tied = NULL, *kept = NULL, last = LLVMGetLastGlobal(module);
	unsigned tied_count = 0, kept_count = 0;

	context = LLVMGetModuleContext(module);
	layout = LLVMGetModuleDataLayout(module);
	variables_collect(module);
	for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g)) {
		LLVMMetadataRef variable = di_global(g);
		unsigned qualifiers = 0;
		LLVMValueRef entry;

		if (wanted(g, variable) && !(variable && (element_of(di_variable_type(variable), &qualifiers),
							  qualifiers & DI_CONST))) {
			entry = new_entry(g, variable);
			/* A common variable has no section to go with. */
			if (LLVMGetLinkage(g) == LLVMCommonLinkage) {
				kept = realloc(kept, (kept_count + 1) * sizeof *kept);
				kept[kept_count++] = entry;
			} else {
				tie(entry, g);
				tied = realloc(tied, (tied_count + 1) * sizeof *tied);
				tied[tied_count++] = entry;
			}
		}
		/* What comes after are the entries themselves. */
		if (g == last)
			break;
	}
	util_keep(module, "llvm.compiler.used", tied, tied_count);
	util_keep(module, "llvm.used", kept, kept_count);
	free(tied);
	free(kept);
	free(owners);
	owners = NULL;
}
