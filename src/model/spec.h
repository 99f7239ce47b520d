/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The user's word over inference: what spec files and annotations say. */
#ifndef ATOMSAN_MODEL_SPEC_H
#define ATOMSAN_MODEL_SPEC_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct spec;

enum spec_word { SPEC_UNIT = 1, SPEC_NOT_UNIT = 2, SPEC_WAIT = 4, SPEC_IGNORE = 8, SPEC_UNITFOR = 16 };

struct spec *spec_new(void);
void spec_free(struct spec *spec);
int spec_add_file(struct spec *spec, const char *path, struct err *err);
int spec_add_text(struct spec *spec, const char *name, const char *text, size_t length, struct err *err);
int spec_check_names(const struct spec *spec, bool (*has_type)(void *user, const char *name),
		     bool (*has_function)(void *user, const char *name), void *user, struct err *err);

/* enum spec_word; SPEC_UNITFOR: there is a type for which spec_unitfor says yes. */
unsigned spec_function(const struct spec *spec, const char *name, const char *linkage_name, const char *file);
bool spec_unitfor(const struct spec *spec, const char *name, const char *linkage_name, const char *type);
/* Names of sets and groups, or NULL. */
const char *spec_member_set(const struct spec *spec, const char *type, const char *member);
const char *spec_variable_set(const struct spec *spec, const char *name, const char *file);
const char *spec_type_merge(const struct spec *spec, const char *type);
const char *spec_variable_merge(const struct spec *spec, const char *name, const char *file);
/* 1: owned, -1: not owned, 0: nothing is said. */
int spec_owned(const struct spec *spec, const char *type, const char *member);
bool spec_ignored_file(const struct spec *spec, const char *file);
bool spec_ignored_type(const struct spec *spec, const char *type);
bool spec_ignored_member(const struct spec *spec, const char *type, const char *member);
bool spec_ignored_variable(const struct spec *spec, const char *name, const char *file);

#endif
