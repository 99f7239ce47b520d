/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * atomsan-lower: from bitcode to what the static analyses read (lint/program.h).
 * A program of its own, run as a child: the command line starts without LLVM,
 * and what makes LLVM give up ends this process only.
 *
 *   input    files to one module, each unit's accesses named before linking
 *   prepare  memory that is a local variable in disguise becomes values; what
 *            is part of its caller in spirit (the C++ library, wrappers of locks
 *            and of malloc) becomes part of it in fact
 *   flatten  the module to tables
 */
#ifndef ATOMSAN_LOWER_LOWER_H
#define ATOMSAN_LOWER_LOWER_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "lint/program.h"

/* ---- input.c ---- */

/* Metadata on accesses: the struct and member that are accessed, without what they lie in. */
#define LOWER_INNER_READ "atomsan.lower.read"
#define LOWER_INNER_WRITE "atomsan.lower.write"

/* One module of all files. NULL with err set. */
LLVMModuleRef input_read(LLVMContextRef context, int count, char **files, struct err *err);

/* ---- prepare.c ---- */

int prepare(LLVMModuleRef module, struct err *err);
bool prepare_is_library(const char *linkage_name); /* of the C++ library */

/* ---- wrapper.c ---- */

/* Marks functions that only pass a lock or fresh memory on, so that they are inlined. */
void wrapper_mark(LLVMModuleRef module);

/* ---- places.c ---- */

/* Before preparing: remembers the module's accesses and calls. */
void places_mark(LLVMModuleRef module);
/* The number of an instruction's place, 0 if it has none; it is still there. */
uint32_t places_of(LLVMValueRef instruction);
/* After flattening: says which of those remembered are not there any more. */
void places_end(void);

/* ---- flatten.c, constant.c ---- */

void flatten(LLVMModuleRef module);
uint32_t flatten_function(LLVMValueRef function); /* its number */
uint32_t constant_value(LLVMValueRef constant);
void constant_globals(LLVMModuleRef module);
/* Bytes from the base of a GEP, folded unless `real`. *element: from there to the end of the array's element,
 * if an index is not constant; else 0. */
int64_t constant_offset(LLVMValueRef gep, bool real, uint32_t *element);

/* ---- tables.c: what is written out ---- */

#define X(name, type) uint32_t table_##name(const type *entry);
PROGRAM_TABLES(X)
#undef X
void tables_begin(void);
uint32_t table_text(const char *text);
void table_blind_spot(const char *sentence);
/* Pointers are good until the next entry. */
struct program_function *table_function_at(uint32_t n);
struct program_block *table_block_at(uint32_t n);
struct program_inst *table_inst_at(uint32_t n);
struct program_value *table_value_at(uint32_t n);
struct program_global *table_global_at(uint32_t n);
uint32_t *table_operand_at(uint32_t n);
uint32_t table_count(enum program_table table);
int tables_write(int fd);

/* A number per LLVM value; 0 if there is none yet. */
uint32_t number_find(LLVMValueRef value);
void number_set(LLVMValueRef value, uint32_t number);

#endif
