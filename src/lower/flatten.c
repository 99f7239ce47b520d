/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Functions, blocks and instructions of a module to the tables of lint/program.h. */
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <stdlib.h>
#include <string.h>

#include "base/cxxlib.h"
#include "lint/known.h"
#include "lower/lower.h"
#include "pass/pass.h"

static LLVMTargetDataRef layout;

static uint32_t type_text(LLVMTypeRef type)
{
	uint32_t number = number_find((LLVMValueRef)(void *)type);

	if (number)
		return number;
	char *text = LLVMPrintTypeToString(type);

	number = table_text(text);
	LLVMDisposeMessage(text);
	number_set((LLVMValueRef)(void *)type, number);
	return number;
}

/* ---- functions ---- */

static bool address_taken(LLVMValueRef function)
{
	for (LLVMUseRef u = LLVMGetFirstUse(function); u; u = LLVMGetNextUse(u)) {
		LLVMValueRef user = LLVMGetUser(u);

		if (!LLVMIsACallInst(user) && !LLVMIsAInvokeInst(user))
			return true;
		for (unsigned i = 0; i < LLVMGetNumArgOperands(user); i++)
			if (LLVMGetOperand(user, i) == function)
				return true;
	}
	return false;
}

uint32_t flatten_function(LLVMValueRef function)
{
	uint32_t found = number_find(function);
	LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
	LLVMLinkage linkage = LLVMGetLinkage(function);
	size_t length;
	const char *linker_name = LLVMGetValueName2(function, &length), *receiver;
	LLVMTypeRef type = LLVMGlobalGetValueType(function);
	struct program_function f = {0};

	if (found)
		return table_value_at(found)->index;
	unsigned flags = subprogram ? di_method_flags(subprogram, linker_name) : 0;

	f.name = table_text(subprogram && *di_name(subprogram) ? di_name(subprogram) : linker_name);
	f.linkage = table_text(linker_name);
	f.signature = type_text(type);
	f.receiver_index = describe_receiver(function, &receiver);
	f.receiver = table_text(receiver);
	if (subprogram) {
		f.file = table_text(di_file(subprogram));
		f.line = LLVMDISubprogramGetLine(subprogram);
	}
	f.flags = (LLVMIsDeclaration(function) ? 0 : FUNCTION_DEFINED) |
		  (linkage != LLVMInternalLinkage && linkage != LLVMPrivateLinkage ? FUNCTION_EXTERNAL : 0) |
		  (address_taken(function) ? FUNCTION_ADDRESS_TAKEN : 0) |
		  (prepare_is_library(linker_name) ? FUNCTION_LIBRARY : 0) |
		  (flags & ATOMSAN_FN_CTOR ? FUNCTION_CONSTRUCTOR : 0) |
		  (flags & ATOMSAN_FN_DTOR ? FUNCTION_DESTRUCTOR : 0) |
		  (!LLVMIsDeclaration(function) && select_function_ignored(function) ? FUNCTION_IGNORED : 0) |
		  (LLVMGetTypeKind(LLVMGetReturnType(type)) == LLVMPointerTypeKind ? FUNCTION_RETURNS_POINTER
										   : 0);
	uint32_t number = table_functions(&f);
	uint32_t value = table_values(&(struct program_value){.kind = VALUE_FUNCTION, .index = number});

	number_set(function, value);
	uint32_t first = table_count(TABLE_values), count = LLVMCountParams(function);

	for (unsigned i = 0; i < count; i++)
		number_set(LLVMGetParam(function, i),
			   table_values(&(struct program_value){
				   .kind = VALUE_PARAMETER, .index = i, .function = number}));
	table_function_at(number)->value = value;
	table_function_at(number)->parameter = first;
	table_function_at(number)->parameter_count = count;
	return number;
}

/* ---- instructions ---- */

static uint32_t value_of(LLVMValueRef value)
{
	uint32_t found = number_find(value);

	if (found)
		return found;
	return LLVMIsAConstant(value) ? constant_value(value)
				      : table_values(&(struct program_value){.kind = VALUE_OTHER});
}

static void operand(struct program_inst *inst, uint32_t value)
{
	if (!inst->operand_count)
		inst->operand = table_count(TABLE_operands);
	table_operands(&value);
	inst->operand_count++;
}

static void all_operands(struct program_inst *inst, LLVMValueRef i, unsigned count)
{
	/* All numbers first: making a constant's must not come between operands. */
	for (unsigned n = 0; n < count; n++)
		value_of(LLVMGetOperand(i, n));
	for (unsigned n = 0; n < count; n++)
		operand(inst, value_of(LLVMGetOperand(i, n)));
}

static uint32_t inner_of(LLVMValueRef i, bool write)
{
	const char *kind = write ? LOWER_INNER_WRITE : LOWER_INNER_READ;
	LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(i));
	LLVMValueRef node =
		LLVMGetMetadata(i, LLVMGetMDKindIDInContext(context, kind, (unsigned)strlen(kind)));
	LLVMValueRef part;
	unsigned length;
	const char *text;

	if (!node || LLVMGetMDNodeNumOperands(node) != 1)
		return 0;
	LLVMGetMDNodeOperands(node, &part);
	text = part && LLVMIsAMDString(part) ? LLVMGetMDString(part, &length) : NULL;
	return text ? table_text(text) : 0;
}

/*
 * What a container of the C++ library accesses in itself is of the object that it
 * is a member of, and by way of an iterator it has no name at all. Its functions
 * are inlined here, so the way from the object to the place can be seen.
 */
static void name_by_owner(LLVMValueRef i, LLVMValueRef pointer, LLVMTypeRef type, struct note *note)
{
	struct note owner;

	if (!type || (*note->type && !elements_librarys(note->type)))
		return;
	describe_outermost(i, pointer, type, &owner);
	if (!*owner.type || !*owner.member || elements_librarys(owner.type))
		return;
	note->type = owner.type;
	note->member = owner.member;
	note->flags |= owner.flags;
}

static bool is_ignored(const struct note *note)
{
	return select_type_ignored(note->type) || select_member_ignored(note->type, note->member) ||
	       (note->base_kind == ATOMSAN_BASE_GLOBAL && select_variable_ignored(note->base));
}

/* Does the C++ library do it for itself, to synchronise: in a header for that, or in what that calls? */
static bool is_librarys_own(LLVMValueRef i)
{
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(i);

	for (; location; location = LLVMDILocationGetInlinedAt(location)) {
		const char *file = di_file(LLVMDILocationGetScope(location));

		if (cxxlib_synchronises(file))
			return true;
		if (!file || !strstr(file, "/include/c++/"))
			return false;
	}
	return false;
}

static uint32_t note_of(LLVMValueRef i, LLVMValueRef pointer, LLVMTypeRef type, bool write)
{
	struct note note;
	struct program_note entry;
	static struct program_note last;
	static uint32_t last_number;

	/* Of a variable that another unit defines, a unit knows no members; here it is known. */
	if (!note_find(i, write, &note) || (note.base_kind == ATOMSAN_BASE_GLOBAL && !*note.member))
		describe_again(i, pointer, type, 0, &note);
	name_by_owner(i, pointer, type, &note);
	entry = (struct program_note){
		table_text(note.type),
		table_text(note.member),
		table_text(note.base),
		note.base_kind,
		note.flags | (is_ignored(&note) || is_librarys_own(i) ? PROGRAM_NOTE_IGNORED : 0),
		inner_of(i, write)};
	if (!last_number || memcmp(&entry, &last, sizeof(entry))) {
		last = entry;
		last_number = table_notes(&entry);
	}
	return last_number;
}

static enum program_sub sub_of(LLVMOpcode opcode)
{
	switch (opcode) {
	case LLVMAdd:
		return SUB_ADD;
	case LLVMSub:
		return SUB_SUB;
	case LLVMXor:
		return SUB_XOR;
	case LLVMAnd:
		return SUB_AND;
	case LLVMOr:
		return SUB_OR;
	default:
		return SUB_OTHER;
	}
}

static bool access_flags(LLVMValueRef i, struct program_inst *inst)
{
	if (LLVMGetVolatile(i))
		inst->flags |= PROGRAM_VOLATILE;
	if (LLVMIsAtomic(i)) {
		inst->flags |= PROGRAM_ATOMIC;
		if (LLVMGetOrdering(i) == LLVMAtomicOrderingMonotonic)
			inst->flags |= PROGRAM_RELAXED;
	}
	return true;
}

static LLVMValueRef real_callee(LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);

	while (callee && LLVMIsAGlobalAlias(callee))
		callee = LLVMAliasGetAliasee(callee);
	return callee;
}

/* The member or variable that is the lock. */
static uint32_t note_of_lock(LLVMValueRef call, const struct known *known)
{
	struct note note = {.type = "", .member = "", .base = "", .flags = ATOMSAN_SITE_MEMBER};

	if (!known || known->kind < KNOWN_LOCK || known->kind > KNOWN_WAIT ||
	    known->a >= (int)LLVMGetNumArgOperands(call))
		return 0;
	describe_again(call, LLVMGetOperand(call, (unsigned)known->a), NULL, 0, &note);
	struct program_note entry = {table_text(note.type),
				     table_text(note.member),
				     table_text(note.base),
				     note.base_kind,
				     note.flags,
				     0};

	return table_notes(&entry);
}

/* False if the call means nothing here. */
static bool flatten_intrinsic(LLVMValueRef i, const char *name, struct program_inst *inst)
{
	static const char *const nothing[] = {
		"llvm.dbg.",      "llvm.lifetime.", "llvm.assume",
		"llvm.donothing", "llvm.stack",     "llvm.invariant.",
		"llvm.va_end",    "llvm.prefetch",  "llvm.experimental.noalias"};
	static const char *const copies[] = {"llvm.threadlocal.address",
					     "llvm.ptr.annotation",
					     "llvm.launder.",
					     "llvm.strip.",
					     "llvm.expect",
					     "llvm.ptrmask",
					     "llvm.annotation"};
	LLVMValueRef to = LLVMGetNumArgOperands(i) ? LLVMGetOperand(i, 0) : NULL;

	for (size_t n = 0; n < sizeof(nothing) / sizeof(*nothing); n++)
		if (!strncmp(name, nothing[n], strlen(nothing[n])))
			return false;
	inst->op = PROGRAM_COMPUTE;
	if (!strncmp(name, "llvm.mem", 8)) {
		bool fill = !strncmp(name, "llvm.memset", 11);
		LLVMValueRef length = LLVMGetOperand(i, 2);

		inst->op = fill ? PROGRAM_FILL : PROGRAM_MOVE;
		inst->write = note_of(i, to, NULL, true);
		if (!fill)
			inst->read = note_of(i, LLVMGetOperand(i, 1), NULL, false);
		inst->size = LLVMIsAConstantInt(length) ? (uint32_t)LLVMConstIntGetZExtValue(length) : 0;
		all_operands(inst, i, 3);
		return true;
	}
	for (size_t n = 0; n < sizeof(copies) / sizeof(*copies); n++)
		if (!strncmp(name, copies[n], strlen(copies[n]))) {
			inst->op = PROGRAM_COPY;
			all_operands(inst, i, 1);
			return true;
		}
	if (!strcmp(name, "llvm.trap") || !strcmp(name, "llvm.ubsantrap"))
		return false;
	/* Metadata arguments are no values. */
	for (unsigned n = 0; n < LLVMGetNumArgOperands(i); n++) {
		LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(i, n)));

		if (kind == LLVMMetadataTypeKind || kind == LLVMTokenTypeKind)
			return false;
	}
	all_operands(inst, i, LLVMGetNumArgOperands(i));
	return true;
}

static bool flatten_call(LLVMValueRef i, struct program_inst *inst)
{
	LLVMValueRef callee = real_callee(i);
	unsigned count = LLVMGetNumArgOperands(i);
	size_t length;

	if (callee && LLVMIsAFunction(callee) && LLVMGetIntrinsicID(callee))
		return flatten_intrinsic(i, LLVMGetValueName2(callee, &length), inst);
	inst->op = PROGRAM_CALL;
	inst->size = type_text(LLVMGetCalledFunctionType(i));
	if (callee && LLVMIsAFunction(callee))
		inst->callee = flatten_function(callee);
	if (inst->callee && LLVMIsDeclaration(callee))
		inst->read = note_of_lock(i, known_find(LLVMGetValueName2(callee, &length)));
	uint32_t target = inst->callee ? 0 : callee ? value_of(callee) : 0;

	all_operands(inst, i, count);
	if (!inst->callee)
		operand(inst, target);
	return true;
}

/* False if it is left out. */
static bool flatten_inst(LLVMValueRef i, struct program_inst *inst)
{
	LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
	unsigned count = (unsigned)LLVMGetNumOperands(i);
	LLVMTypeRef type = LLVMTypeOf(i);

	if (LLVMGetTypeKind(type) == LLVMPointerTypeKind || opcode == LLVMPtrToInt)
		inst->flags |= PROGRAM_POINTER;
	switch (opcode) {
	case LLVMAlloca:
		inst->op = PROGRAM_ALLOCA;
		inst->size = (uint32_t)LLVMABISizeOfType(layout, LLVMGetAllocatedType(i));
		return true;
	case LLVMLoad:
		inst->op = PROGRAM_LOAD;
		inst->size = (uint32_t)LLVMStoreSizeOfType(layout, type);
		inst->read = note_of(i, LLVMGetOperand(i, 0), type, false);
		all_operands(inst, i, 1);
		return access_flags(i, inst);
	case LLVMStore:
		type = LLVMTypeOf(LLVMGetOperand(i, 0));
		inst->op = PROGRAM_STORE;
		inst->size = (uint32_t)LLVMStoreSizeOfType(layout, type);
		inst->write = note_of(i, LLVMGetOperand(i, 1), type, true);
		if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
			inst->flags |= PROGRAM_POINTER;
		all_operands(inst, i, 2);
		return access_flags(i, inst);
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
		type = LLVMTypeOf(LLVMGetOperand(i, 1));
		inst->op = PROGRAM_UPDATE;
		inst->size = (uint32_t)LLVMStoreSizeOfType(layout, type);
		inst->read = inst->write = note_of(i, LLVMGetOperand(i, 0), type, true);
		inst->flags |= PROGRAM_ATOMIC;
		/* Writes only if the value is still the expected one. */
		inst->sub = opcode == LLVMAtomicCmpXchg ? SUB_EQUAL : SUB_OTHER;
		all_operands(inst, i, count);
		return true;
	case LLVMGetElementPtr:
		inst->op = PROGRAM_OFFSET;
		inst->offset = constant_offset(i, false, &inst->size);
		if (inst->size)
			inst->flags |= PROGRAM_ARRAY;
		for (unsigned n = 0; n < count; n++)
			value_of(LLVMGetOperand(i, n));
		operand(inst, value_of(LLVMGetOperand(i, 0)));
		for (unsigned n = 1; n < count; n++)
			if (!LLVMIsAConstant(LLVMGetOperand(i, n)))
				operand(inst, value_of(LLVMGetOperand(i, n)));
		return true;
	case LLVMPHI:
		count = LLVMCountIncoming(i);
		inst->op = PROGRAM_PHI;
		for (unsigned n = 0; n < count; n++)
			value_of(LLVMGetIncomingValue(i, n));
		for (unsigned n = 0; n < count; n++)
			operand(inst, value_of(LLVMGetIncomingValue(i, n)));
		for (unsigned n = 0; n < count; n++)
			operand(inst, number_find(LLVMBasicBlockAsValue(LLVMGetIncomingBlock(i, n))));
		return true;
	case LLVMTrunc:
	case LLVMZExt:
	case LLVMSExt:
	case LLVMIntToPtr:
	case LLVMPtrToInt:
	case LLVMBitCast:
	case LLVMAddrSpaceCast:
	case LLVMFreeze:
	case LLVMExtractValue:
	case LLVMInsertValue:
		inst->op = PROGRAM_COPY;
		all_operands(inst, i, count);
		return true;
	case LLVMICmp:
		inst->op = PROGRAM_COMPARE;
		inst->sub = LLVMGetICmpPredicate(i) == LLVMIntEQ   ? SUB_EQUAL
			    : LLVMGetICmpPredicate(i) == LLVMIntNE ? SUB_UNEQUAL
								   : SUB_OTHER;
		all_operands(inst, i, 2);
		return true;
	case LLVMFCmp:
		inst->op = PROGRAM_COMPARE;
		all_operands(inst, i, 2);
		return true;
	case LLVMCall:
		return flatten_call(i, inst);
	case LLVMLandingPad:
		inst->op = PROGRAM_COMPUTE;
		return true;
	case LLVMFence:
		return false;
	default:
		inst->op = PROGRAM_COMPUTE;
		inst->sub = (uint8_t)sub_of(opcode);
		all_operands(inst, i, count);
		return true;
	}
}

static void flatten_terminator(LLVMValueRef i, struct program_inst *inst)
{
	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMBr:
		if (LLVMGetNumSuccessors(i) == 2) {
			inst->op = PROGRAM_BRANCH;
			operand(inst, value_of(LLVMGetCondition(i)));
			return;
		}
		break;
	case LLVMSwitch:
		inst->op = PROGRAM_SWITCH;
		operand(inst, value_of(LLVMGetOperand(i, 0)));
		return;
	case LLVMIndirectBr:
		inst->op = PROGRAM_SWITCH;
		operand(inst, value_of(LLVMGetOperand(i, 0)));
		return;
	case LLVMRet:
		inst->op = PROGRAM_RETURN;
		if (LLVMGetNumOperands(i))
			operand(inst, value_of(LLVMGetOperand(i, 0)));
		return;
	default:
		break;
	}
	inst->op = LLVMGetNumSuccessors(i) ? PROGRAM_JUMP : PROGRAM_END;
}

/* Where it stands in the function that has it now. */
static void locate(LLVMValueRef i, struct program_inst *inst)
{
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(i), outer;

	while (location && (outer = LLVMDILocationGetInlinedAt(location)))
		location = outer;
	if (location) {
		inst->line = LLVMDILocationGetLine(location);
		inst->column = LLVMDILocationGetColumn(location);
	}
}

static void emit(LLVMValueRef i, uint32_t function, uint32_t block, struct program_inst *inst, bool result)
{
	inst->block = block;
	locate(i, inst);
	switch ((enum program_op)inst->op) {
	case PROGRAM_LOAD:
	case PROGRAM_STORE:
	case PROGRAM_UPDATE:
	case PROGRAM_MOVE:
	case PROGRAM_FILL:
	case PROGRAM_CALL:
		inst->place = places_of(i);
		break;
	default:
		break;
	}
	uint32_t number = table_insts(inst);

	if (result && LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMVoidTypeKind) {
		/* Its number was given out before, for those that use it earlier. */
		uint32_t value = number_find(i);

		*table_value_at(value) =
			(struct program_value){.kind = VALUE_RESULT, .index = number, .function = function};
		table_inst_at(number)->value = value;
	}
}

static void flatten_block(LLVMBasicBlockRef b, uint32_t function)
{
	uint32_t number = number_find(LLVMBasicBlockAsValue(b));
	LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
	uint32_t first = table_count(TABLE_insts);

	for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
		struct program_inst inst = {0};

		if (i == end) {
			if (LLVMIsAInvokeInst(i) || LLVMGetInstructionOpcode(i) == LLVMCallBr) {
				if (LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMPointerTypeKind)
					inst.flags |= PROGRAM_POINTER;
				if (flatten_call(i, &inst))
					emit(i, function, number, &inst, true);
				inst = (struct program_inst){0};
			}
			flatten_terminator(i, &inst);
			emit(i, function, number, &inst, false);
		} else if (flatten_inst(i, &inst)) {
			emit(i, function, number, &inst, true);
		}
	}
	struct program_block *block = table_block_at(number);

	block->inst = first;
	block->inst_count = table_count(TABLE_insts) - first;
	block->edge = table_count(TABLE_edges);
	for (unsigned s = 0; end && s < LLVMGetNumSuccessors(end); s++) {
		uint32_t to = number_find(LLVMBasicBlockAsValue(LLVMGetSuccessor(end, s)));

		table_edges(&to);
	}
	block = table_block_at(number);
	block->edge_count = table_count(TABLE_edges) - block->edge;
}

static void flatten_body(LLVMValueRef function)
{
	uint32_t number = flatten_function(function), first = table_count(TABLE_blocks);

	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
		number_set(LLVMBasicBlockAsValue(b),
			   table_blocks(&(struct program_block){.function = number}));
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
			if (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMVoidTypeKind)
				number_set(i, table_values(&(struct program_value){.kind = VALUE_OTHER}));
	}
	table_function_at(number)->block = first;
	table_function_at(number)->block_count = table_count(TABLE_blocks) - first;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		flatten_block(b, number);
}

/* Constructors that run before main. */
static void mark_initialisers(LLVMModuleRef module)
{
	LLVMValueRef list = LLVMGetNamedGlobal(module, "llvm.global_ctors");
	LLVMValueRef all = list ? LLVMGetInitializer(list) : NULL;

	for (int i = 0; all && i < LLVMGetNumOperands(all); i++) {
		LLVMValueRef entry = LLVMGetOperand(all, (unsigned)i);

		if (LLVMGetNumOperands(entry) > 1 && LLVMIsAFunction(LLVMGetOperand(entry, 1)))
			table_function_at(flatten_function(LLVMGetOperand(entry, 1)))->flags |=
				FUNCTION_INITIALISER;
	}
}

void flatten(LLVMModuleRef module)
{
	layout = LLVMGetModuleDataLayout(module);
	select_begin(module);
	di_begin(module);
	types_collect(module);
	constant_globals(module);
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		if (!LLVMIsDeclaration(f))
			flatten_body(f);
	mark_initialisers(module);
}
