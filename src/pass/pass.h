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

/* In access.cc, for want of a C function. */
unsigned shim_subprogram_flags(LLVMMetadataRef subprogram);
LLVMMetadataRef shim_operand(LLVMMetadataRef node, unsigned n);
LLVMValueRef shim_address(LLVMDbgRecordRef assign); /* of the variable */
/* The block's phis have another block for one that they had. */
void shim_phis_from(LLVMBasicBlockRef block, LLVMBasicBlockRef from, LLVMBasicBlockRef instead);
/* Ends the compiler, after a sentence was printed; what it has begun to write is removed. */
__attribute__((noreturn)) void shim_leave(void);

/* ---- debuginfo.c: what the C API does not name is reached by operand number, all in there ---- */

void di_begin(LLVMModuleRef module);
LLVMMetadataRef di_scope(LLVMMetadataRef scope);         /* enclosing scope, or NULL */
LLVMMetadataRef di_subprogram(LLVMMetadataRef scope);    /* the function that a scope lies in */
const char *di_name(LLVMMetadataRef node);               /* of anything named, without scopes; "" if none */
const char *di_linkage_name(LLVMMetadataRef subprogram); /* "" if none */
const char *di_file(LLVMMetadataRef scope);              /* "" if none */
LLVMMetadataRef di_variable_type(LLVMMetadataRef variable);
LLVMMetadataRef di_strip(LLVMMetadataRef type);   /* without typedef, const, volatile, restrict, atomic */
LLVMMetadataRef di_pointee(LLVMMetadataRef type); /* of a pointer or reference, stripped; else NULL */
bool di_is_struct(LLVMMetadataRef type);          /* struct, class or union */
bool di_is_union(LLVMMetadataRef type);
bool di_is_class(LLVMMetadataRef type);
bool di_is_array(LLVMMetadataRef type);
bool di_is_pointer(LLVMMetadataRef type); /* or reference */
bool di_is_number(LLVMMetadataRef type);  /* or one of an enumeration */
bool di_is_typedef(LLVMMetadataRef type);
bool di_is_member(LLVMMetadataRef element);    /* takes room in the struct: a data member or a base class */
bool di_is_base(LLVMMetadataRef member);       /* a base class */
LLVMMetadataRef di_base(LLVMMetadataRef type); /* what a derived type or an array is made of, or NULL */
LLVMMetadataRef di_elements(LLVMMetadataRef type); /* list of a struct, a signature, or a unit's types */
unsigned di_count(LLVMMetadataRef list);
LLVMMetadataRef di_element(LLVMMetadataRef list, unsigned n); /* or NULL */
uint64_t di_size(LLVMMetadataRef type);                       /* bytes; 0 if not known */
LLVMMetadataRef di_signature(LLVMMetadataRef subprogram);
LLVMMetadataRef di_result(LLVMMetadataRef subprogram);                /* type, or NULL for void */
LLVMMetadataRef di_parameter(LLVMMetadataRef subprogram, unsigned n); /* type of parameter n, or NULL */
unsigned di_flags(LLVMMetadataRef type);
enum di_qualifier { DI_CONST = 1, DI_VOLATILE = 2, DI_ATOMIC = 4 };
unsigned di_qualifiers(LLVMMetadataRef type); /* enum di_qualifier; typedefs are looked through */
/* Has the type, or a typedef on the way to it, one of these names (NULL ends them)? */
bool di_goes_by(LLVMMetadataRef type, const char *const *names);
/* The n-th btf_decl_tag of a struct, a member or a variable; NULL after the last. */
const char *di_annotation(LLVMMetadataRef node, unsigned n);
LLVMMetadataRef di_variables(LLVMMetadataRef unit); /* list of a unit's global variables */
/* enum atomsan_function_flag, as far as the declaration tells. */
unsigned di_method_flags(LLVMMetadataRef subprogram, const char *linkage_name);
LLVMMetadataRef di_global(LLVMValueRef global); /* DIGlobalVariable, or NULL */
/* The value that is a record's variable, or its address; NULL if it is only computed from one. */
LLVMValueRef di_record_value(LLVMDbgRecordRef record, bool *address);

/* ---- types.c: names of types ---- */

void types_collect(LLVMModuleRef module);
void types_forget(void);
/* As a user would write it, with its scopes; a struct without a tag goes by its typedef. */
const char *types_name(LLVMMetadataRef type);
/* Is this what LLVM calls "struct.node" or "class.std::pair.12", of that size? */
bool types_match(LLVMMetadataRef type, const char *llvm_name, uint64_t size);
/* The type that LLVM calls so. Sets *name to what can be said of it for sure. */
LLVMMetadataRef types_nth(size_t i); /* the structs of the module; NULL after the last */
LLVMMetadataRef types_find(const char *llvm_name, uint64_t size, const char **name);

/* ---- cursor.c: a place inside a type ---- */

/*
 * Begins at an object, is moved by offsets and by the structs that address
 * computations name, and ends at the smallest member that holds the access.
 */
struct cursor {
	LLVMMetadataRef type;  /* of the object entered last, stripped; NULL: not known */
	uint64_t offset;       /* inside it */
	LLVMMetadataRef owner; /* the struct that declares the first member on the path; NULL: none yet */
	LLVMMetadataRef named; /* the type that only LLVM's name led to, */
	const char *name;      /* and what can be said of it */
	uint64_t begin;        /* of type, inside owner; of the first element where arrays lie between */
	int bit;               /* of a bit-field's storage, or -1 */
	bool array, bitfield;
	char path[400]; /* "limits.max", "slots[]" */
};
enum shape { SHAPE_OTHER, SHAPE_INTEGER, SHAPE_FLOAT, SHAPE_POINTER, SHAPE_WHOLE };

void cursor_begin(struct cursor *c, LLVMMetadataRef type);
void cursor_move(struct cursor *c, int64_t bytes);
/* Into the subobject here that LLVM calls so, or into an object of its own where there is none (a cast). */
void cursor_enter(struct cursor *c, const char *llvm_name, uint64_t size);
/* SHAPE_WHOLE stops at the first member of that size (0: of any) that begins here. */
void cursor_end(struct cursor *c, uint64_t size, enum shape shape);

/* ---- elements.c ---- */

/* "type.member" of the container of the C++ library that the pointer leads into; NULL: of none. */
const char *elements_of(LLVMValueRef pointer);
bool elements_librarys(const char *type); /* it is a type of the C++ library */

/* ---- bitfield.c ---- */

int bitfield_first_bit(LLVMValueRef access); /* inside the storage unit, or -1 */

/* ---- notes.c: what the early pass knows of an access ---- */

struct note {
	const char *type, *member, *base; /* "" if none; owned by the notes */
	unsigned base_kind;               /* enum atomsan_base */
	unsigned flags;                   /* enum atomsan_site_flag */
	uint64_t offset, type_size;       /* see struct atomsan_site */
};
const char *note_text(const char *text); /* kept until notes_forget */
void note_attach(LLVMValueRef instruction, const struct note *note, bool write);
bool note_find(LLVMValueRef instruction, bool write, struct note *note);
/* The source's type of what a load yields or an alloca holds. */
void note_attach_value(LLVMValueRef instruction, LLVMMetadataRef type);
LLVMMetadataRef note_find_value(LLVMValueRef instruction);
void notes_forget(void);

/* ---- follow.c: where pointers come from ---- */

struct local {
	LLVMValueRef value; /* NULL: free */
	LLVMMetadataRef variable;
	LLVMMetadataRef object; /* type of what the value points to */
	unsigned parameter;     /* number + 1, 0 if it is none */
};
void follow_begin(LLVMValueRef function); /* what comes next is about this function */
void follow_forget(void);                 /* values are about to change */
struct local *follow_local(LLVMValueRef value);
/* Where a pointer leads; *member is set if a step names a struct. Returns the value it is computed from. */
LLVMValueRef follow(LLVMValueRef pointer, struct cursor *c, bool *member, int depth);
/* The same from the outermost object on, also where a part of it is a variable of its own on the way: `this`
 * of a member's function that was inlined. */
LLVMValueRef follow_outermost(LLVMValueRef pointer, struct cursor *c, bool *member);

/* ---- loaded.c: which member a pointer was loaded from ---- */

/* Early: what functions return. */
void loaded_learn(LLVMModuleRef module);
/* "type.member", or NULL: from none, or not from members alone. `type` is what the pointer leads to: of
 * several members it is one of another struct. Of the function that was followed last. */
const char *loaded_from(LLVMValueRef pointer, const char *type);

/* ---- describe.c: what an access means ---- */

/* Type, member and layout, from where a pointer leads. */
void describe_member(const struct cursor *c, bool member, struct note *note);

void describe_function(LLVMValueRef function); /* early: notes all its accesses */
/* Late: fills in what no note tells, as far as types and offsets do. Without a type: a range of bytes. */
void describe_again(LLVMValueRef instruction, LLVMValueRef pointer, LLVMTypeRef type, uint64_t size,
		    struct note *note);
/* The same from the outermost object on. */
void describe_outermost(LLVMValueRef instruction, LLVMValueRef pointer, LLVMTypeRef type, struct note *note);
/* The receiver's parameter number and struct, or ATOMSAN_NO_RECEIVER. */
unsigned describe_receiver(LLVMValueRef function, const char **type);
/* Another parameter that points to a struct of the receiver's type, or ATOMSAN_NO_RECEIVER. */
unsigned describe_argument(LLVMValueRef function);
/* Early, of the function that was described last: the member ("type.member") that a pointer was loaded from,
 * or NULL, and the struct that it points to. */
const char *describe_pointer(LLVMValueRef pointer, const char **type);

/* ---- accessor.c: early; plain getters and setters ---- */

bool accessor_is(LLVMValueRef function);

/* belongs.c: early; are all pointers that a call of this module's function hands on the caller's receiver,
 * reached from it, or nobody's but the caller's own? `any`: each of its parameters counts as the receiver
 * does. */
bool belongs_to_caller(LLVMValueRef call, bool any);
/* Is it no pointer, or one to what its function is given, or reached from there, to new memory or locals? */
bool belongs_to_function(LLVMValueRef value);

/* parts.c: early; is the function a part of the units that call it on their own object, though it has a
 * frame? */
bool part_is(LLVMValueRef function);

/* passes_on.c: does it call what its argument leads to, and so pass on the thread that begins with it? */
bool passes_on(LLVMValueRef function);

/* calls_on.c: on which structs, reached through a pointer member of its receiver, it calls functions several
 * times; a tag on each line. */
const char *calls_on(LLVMValueRef function);

/* waits.c: which functions it may wait by, a line each (see struct atomsan_function), behind the lines of
 * `before`; the same for a loop. */
struct flow;
const char *waits_function(LLVMValueRef function, const char *before);
const char *waits_loop(LLVMValueRef function, const struct flow *flow, unsigned loop);
bool waits_until(
	LLVMValueRef function); /* one of the C++ library's that test what they wait for, in a loop */

/* spins.c: does it wait for what others signal by atomic data, and is no part of a lock? */
bool spins_loop(LLVMValueRef function, const struct flow *flow, unsigned loop);
bool spins_somewhere(LLVMValueRef function); /* in one of its loops */
bool spins_idle(LLVMValueRef instruction);   /* it only lets time pass, or computes */

/* ---- acquires.c ---- */

/* In a loop: it does something else than to take a lock, or to wait for one. */
bool acquires_more(LLVMValueRef instruction);
/* Is it a function of the C library that takes a lock, or gives one back? */
bool acquires_or_gives_back(const char *name);

/* ---- calls.c: early; calls that may synchronise, wait, or talk to the world ---- */

void calls_collect(LLVMModuleRef module);
void calls_forget(void);
bool calls_synchronise(LLVMValueRef instruction);        /* it may */
bool calls_surely_synchronise(LLVMValueRef instruction); /* what it calls has a call that does */
bool calls_only_read(LLVMValueRef call);                 /* as its attributes say */
bool calls_allocator(LLVMValueRef call);                 /* gets memory or gives it back, the C library's */
bool calls_coroutine(LLVMValueRef instruction);          /* lets one go on */
bool calls_operation(LLVMValueRef call);                 /* of the C library, or C++'s, that synchronises */

/* ---- mark.c: early; entry and exit marks ---- */

void mark_function(LLVMValueRef function);
/* The call of a mark, where the builder is. A mark that begins something returns its frame. */
LLVMValueRef mark_build(LLVMBuilderRef builder, LLVMModuleRef module, const char *name,
			LLVMValueRef *arguments);
#define MARK_ENTER "__atomsan_mark_enter"
#define MARK_EXIT "__atomsan_mark_exit"
#define MARK_PART "__atomsan_mark_part" /* what may be a part of the frame below */
#define MARK_PART_EXIT "__atomsan_mark_part_exit"
#define MARK_BACK "__atomsan_mark_back"
#define MARK_HERE "__atomsan_mark_here"     /* the frame that is open, to come back to */
#define MARK_LOOP "__atomsan_mark_loop"     /* the first iteration begins */
#define MARK_WALK "__atomsan_mark_walk"     /* the same of a walk that may not synchronise at all */
#define MARK_SINCE "__atomsan_mark_since"   /* how much the thread has synchronised until now */
#define MARK_NEXT "__atomsan_mark_next"     /* one ends, the next begins */
#define MARK_GO_ON "__atomsan_mark_go_on"   /* the same of a loop that may not synchronise at all */
#define MARK_LEAVE "__atomsan_mark_leave"   /* the last one ends */
#define MARK_DONE "__atomsan_mark_done"     /* the same of a loop that may not synchronise at all */
#define MARK_WALKED "__atomsan_mark_walked" /* the same of a walk that may not */

/* ---- sites.c: constants for the tables ---- */

/* Again after whatever may have dropped entries. */
void sites_begin(LLVMModuleRef module);
LLVMValueRef sites_add(LLVMValueRef instruction, enum atomsan_access kind, unsigned order, uint64_t size,
		       const struct note *note);
/* Two neighbours, for what a call reads and for what it writes (see rt/watched.inc). */
LLVMValueRef sites_add_pair(LLVMValueRef instruction, const struct note *note);
LLVMValueRef sites_function(LLVMModuleRef module, LLVMValueRef function, unsigned line, unsigned flags,
			    unsigned asm_blocks, const char *calls);
/* For tables elsewhere: an empty entry, and the distance of a text from one of its fields. */
LLVMValueRef sites_new_entry(LLVMTypeRef type, const char *section);
LLVMValueRef sites_distance(LLVMValueRef entry, unsigned byte, const char *text);
void sites_module_constructor(LLVMModuleRef module);

/* ---- variables.c: late; the table of variables ---- */

void variables_list(LLVMModuleRef module);
/* Early: keeps the optimiser from taking structs apart, whose members would then lie anywhere. */
void variables_keep_whole(LLVMModuleRef module);

/* The file of the unit that a DIGlobalVariable belongs to; "" if it is not known. */
const char *variables_file(LLVMMetadataRef variable);
/* Before variables_file is asked. */
void variables_collect(LLVMModuleRef module);

/* ---- annotations.c: early; what the source says of itself ---- */

void annotations_collect(LLVMModuleRef module);

/* ---- watched.c ---- */

void watched_call(LLVMValueRef call, LLVMValueRef callee, const char *name);

/* ---- select.c: what need not be instrumented ---- */

void select_begin(LLVMModuleRef module);
bool select_function_ignored(LLVMValueRef function);
bool select_global_ignored(LLVMValueRef global);
bool select_variable_ignored(const char *name);
bool select_type_ignored(const char *type);
bool select_member_ignored(const char *type, const char *member);
/* What annotations ask for: 't' a type, 'm' a member as TYPE.MEMBER. */
void select_ignore(char kind, const char *name);
void select_ignore_variable(LLVMValueRef global);

/* ---- private.c: what no other thread can reach ---- */

bool private_pointer(LLVMValueRef pointer); /* what it points to is such */
bool private_escapes(LLVMValueRef local);   /* its address may outlive or leave this function */
bool private_captured(LLVMValueRef call, LLVMValueRef pointer); /* who is called may keep it */
LLVMValueRef private_base(LLVMValueRef pointer);                /* without GEPs and casts */
void private_forget(void);                                      /* uses changed */
bool private_allocation(LLVMValueRef call); /* it gets memory that only the caller knows of */
bool private_numbers(LLVMTypeRef type);     /* nothing in it may lead to something else */
/* Allocations, parameters and what locals own are looked at between these, as the module was at the first. */
void private_begin(LLVMModuleRef module);
void private_end(void);

/* ---- owned.c: memory that is owned by a local ---- */

/* Tells of locals and allocations that no other thread can reach though pointers to them lie in others of
 * these, and of the pointers to such that were loaded. Those that are known are not looked at for their own
 * sake. */
void owned_by_locals(LLVMValueRef function, bool (*known)(LLVMValueRef), void (*found)(LLVMValueRef));

/* ---- distance.c: addresses that are made numbers ---- */

/* Objects, and all other pointers that may lead to them. */
struct distance {
	LLVMValueRef const *pointers; /* the objects first */
	unsigned objects, count;
	bool null; /* some pointers may be null as well, which is followed */
};
bool distance_is_number(LLVMValueRef instruction);   /* it makes one of a pointer */
bool distance_only(const struct distance *distance); /* of none of those numbers an address gets away */

/* ---- again.c ---- */

/* Calls of the function, up to so many, that search again for what an earlier one searched for, whose answer
 * is not used any more. Early, before the function is marked. */
unsigned again_find(LLVMValueRef function, LLVMValueRef *calls, unsigned room);

/* ---- embed.c ---- */

void embed_bitcode(LLVMModuleRef module);

/* ---- instrument.c: late ---- */

void instrument_module(LLVMModuleRef module);
/* The store that ends what this load begins (x += 1, on one line), or NULL. */
LLVMValueRef instrument_updating_store(LLVMValueRef load);

/* ---- heal.c: early; instead of all else, in a program that is to be healed in the field ---- */

/* The repository that was asked for, or NULL. */
const char *heal_wanted(void);
void heal_instrument(LLVMModuleRef module);
/* heal_bare.c: late; locks under which nothing is healed are libc's own calls again. */
void heal_bare(LLVMModuleRef module);

/* empty.c: late; takes marks of frames away in which nobody is told of anything. The marks are calls of
 * __atomsan_inl_enter, in the order of the function. */
void empty_frames_drop(LLVMValueRef *enters, size_t count);

/* lanes.c: from here on LLVM makes no accesses up in this function, until they are allowed again. */
void lanes_forbid_speculation(LLVMValueRef function);
void lanes_allow_speculation(LLVMValueRef function);
/* True if some lanes of a load are looked at and others never. */
bool lanes_partly_used(LLVMValueRef load, uint64_t *used);

/* ---- small helpers (util.c) ---- */

bool util_is_call(LLVMValueRef value);       /* or one that may throw */
LLVMValueRef util_callee(LLVMValueRef call); /* the function called directly, or NULL */
/* An attribute of a call, or of the function that it calls directly; NULL: neither has it. */
LLVMAttributeRef util_call_attribute(LLVMValueRef call, const char *name);
bool util_is_coroutine(LLVMValueRef function); /* before it is split */
bool util_is_intrinsic(LLVMValueRef call, const char *prefix);
bool util_is_mark(LLVMValueRef call); /* of ours: functions are marked one after the other */
bool util_named_like(LLVMValueRef function, const char *const *prefixes); /* the last is NULL */
/* Does a branch depend on the value, as it is or compared, over so many steps? */
bool util_guards(LLVMValueRef value, unsigned depth);
/* The same, also by way of local variables and of what the function returns to callers in this module. */
bool util_guards_far(LLVMValueRef value, unsigned depth);
/*
 * Do two addresses, computed in so many steps, mean the same? What is loaded from one address twice is taken
 * for the same: for a lock because who changes the pointer to one that is held loses it.
 */
bool util_alike(LLVMValueRef a, LLVMValueRef b, unsigned steps);
/* Is there a place behind the call where nobody else comes? Not always behind an invoke. */
bool util_has_room_behind(LLVMValueRef call);
LLVMAttributeRef util_attribute(LLVMModuleRef module, const char *name, uint64_t value);
void util_add_attribute(LLVMValueRef function, const char *name);
/* Add to llvm.used, which the linker keeps, or llvm.compiler.used, which the compiler keeps. */
void util_keep(LLVMModuleRef module, const char *list, LLVMValueRef *globals, unsigned count);

#endif
