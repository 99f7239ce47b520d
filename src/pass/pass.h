/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The compiler plugin, in C on the LLVM-C API. Two passes over each module:
 *
 *   early (start of the pipeline): the bitcode is still pristine and is
 *   embedded; every access still shows its struct and member, which are noted;
 *   entries and exits of functions are marked, so that inlining keeps them.
 *
 *   late (end of the optimiser): what is left of the accesses is what really
 *   runs; each gets its site and its check, marks become code.
 *
 * Notes go from early to late as metadata on the instruction, and, since
 * optimisations drop unknown metadata, by source position as well.
 */
#ifndef ATOMSAN_PASS_PASS_H
#define ATOMSAN_PASS_PASS_H

#include "abi/hooks.h"

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stddef.h>

/* Called by shim.cc. */
void pass_early(LLVMModuleRef module);
void pass_late(LLVMModuleRef module);

/* In shim.cc, for want of a C function. */
unsigned shim_subprogram_flags(LLVMMetadataRef subprogram);

/* ---- debuginfo.c: what the C API does not name is reached by operand number, all in there ---- */

LLVMMetadataRef di_scope(LLVMMetadataRef scope);         /* enclosing scope, or NULL */
LLVMMetadataRef di_subprogram(LLVMMetadataRef scope);    /* the function that a scope lies in */
const char *di_name(LLVMMetadataRef node);               /* of a subprogram, variable or type; "" if none */
const char *di_linkage_name(LLVMMetadataRef subprogram); /* "" if none */
const char *di_file(LLVMMetadataRef scope);              /* "" if none */
LLVMMetadataRef di_variable_type(LLVMMetadataRef variable);
LLVMMetadataRef di_strip(LLVMMetadataRef type);   /* without typedef, const, volatile, restrict, atomic */
LLVMMetadataRef di_pointee(LLVMMetadataRef type); /* of a pointer or reference, stripped; else NULL */
bool di_is_struct(LLVMMetadataRef type);          /* struct, class or union */
const char *di_type_name(LLVMMetadataRef type);   /* tag, or the typedef's name, or "" */
LLVMMetadataRef di_parameter(LLVMMetadataRef subprogram, unsigned n); /* type of parameter n, or NULL */
unsigned di_flags(LLVMMetadataRef type);
/* enum atomsan_function_flag, as far as the declaration tells. */
unsigned di_method_flags(LLVMMetadataRef subprogram, const char *linkage_name);
LLVMMetadataRef di_global(LLVMValueRef global); /* DIGlobalVariable, or NULL */

/* The member at a byte offset, as a path ("limits.max", "slots[]"), going into
 * nested structs by value until the size fits. Returns false if there is none. */
bool di_member_at(LLVMMetadataRef type, uint64_t offset, uint64_t size, char *path, size_t room,
		  bool *bitfield, bool *array);
/* Types by the name that LLVM gives to a struct ("struct.node"), found on a walk over the module. */
void di_types_collect(LLVMModuleRef module);
LLVMMetadataRef di_type_of_struct(const char *llvm_name);
void di_types_forget(void);

/* ---- notes.c: what the early pass knows of an access ---- */

struct note {
	const char *type, *member, *base; /* "" if none; owned by the notes */
	unsigned base_kind;               /* enum atomsan_base */
	unsigned flags;                   /* enum atomsan_site_flag */
};
const char *note_text(const char *text); /* kept until notes_forget */
void note_attach(LLVMValueRef instruction, const struct note *note, bool write);
bool note_find(LLVMValueRef instruction, bool write, struct note *note);
void notes_forget(void);

/* ---- describe.c: early; notes all accesses of a function ---- */

void describe_function(LLVMValueRef function);
/* The receiver's parameter number and struct, or ATOMSAN_NO_RECEIVER. */
unsigned describe_receiver(LLVMValueRef function, const char **type);

/* ---- mark.c: early; entry and exit marks ---- */

void mark_function(LLVMValueRef function);
#define MARK_ENTER "__atomsan_mark_enter"
#define MARK_EXIT "__atomsan_mark_exit"
#define MARK_BACK "__atomsan_mark_back"

/* ---- sites.c: constants for the tables ---- */

void sites_begin(LLVMModuleRef module);
void sites_forget(void);
LLVMValueRef sites_add(LLVMValueRef instruction, enum atomsan_access kind, unsigned order, uint64_t size,
		       const struct note *note);
/* Two neighbours, for what a call reads and for what it writes (see rt/watched.inc). */
LLVMValueRef sites_add_pair(LLVMValueRef instruction, const struct note *note);
LLVMValueRef sites_function(LLVMModuleRef module, LLVMValueRef function, unsigned asm_blocks);
void sites_module_constructor(LLVMModuleRef module);

/* ---- select.c: what need not be instrumented ---- */

void select_begin(LLVMModuleRef module);
void select_forget_answers(void); /* uses changed */
bool select_function_ignored(LLVMValueRef function);
bool select_type_ignored(const char *type);
bool select_pointer_private(LLVMValueRef pointer); /* no other thread can reach what it points to */
bool select_escapes(LLVMValueRef alloca_or_call);  /* its address may outlive or leave this function */
LLVMValueRef select_base(LLVMValueRef pointer);    /* without GEPs and casts */

/* ---- embed.c ---- */

void embed_bitcode(LLVMModuleRef module);

/* ---- instrument.c: late ---- */

void instrument_module(LLVMModuleRef module);

/* ---- small helpers (util.c) ---- */

LLVMValueRef util_callee(LLVMValueRef call); /* the function called directly, or NULL */
bool util_is_intrinsic(LLVMValueRef call, const char *prefix);
LLVMAttributeRef util_attribute(LLVMModuleRef module, const char *name, uint64_t value);
void util_add_attribute(LLVMValueRef function, const char *name);
void util_keep(LLVMModuleRef module, LLVMValueRef global); /* list in llvm.used */

#endif
