/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "model/spec.h"

#include <stdlib.h>

struct spec {
	size_t statements;
};

struct spec *spec_new(void)
{
	return mem_zalloc(1, sizeof(struct spec));
}

void spec_free(struct spec *spec)
{
	free(spec);
}

int spec_add_file(struct spec *spec, const char *path, struct err *err)
{
	return err_set(err, "%s: this version does not read spec files yet", path);
}

int spec_add_text(struct spec *spec, const char *name, const char *text, size_t length, struct err *err)
{
	return 0;
}

int spec_check_names(const struct spec *spec, bool (*has_type)(void *user, const char *name),
		     bool (*has_function)(void *user, const char *name), void *user, struct err *err)
{
	return 0;
}

unsigned spec_function(const struct spec *spec, const char *name, const char *linkage_name, const char *file)
{
	return 0;
}

bool spec_unitfor(const struct spec *spec, const char *name, const char *linkage_name, const char *type)
{
	return false;
}

const char *spec_member_set(const struct spec *spec, const char *type, const char *member)
{
	return NULL;
}

const char *spec_variable_set(const struct spec *spec, const char *name, const char *file)
{
	return NULL;
}

const char *spec_type_merge(const struct spec *spec, const char *type)
{
	return NULL;
}

const char *spec_variable_merge(const struct spec *spec, const char *name, const char *file)
{
	return NULL;
}

int spec_owned(const struct spec *spec, const char *type, const char *member)
{
	return 0;
}

bool spec_ignored_file(const struct spec *spec, const char *file)
{
	return false;
}

bool spec_ignored_type(const struct spec *spec, const char *type)
{
	return false;
}

bool spec_ignored_member(const struct spec *spec, const char *type, const char *member)
{
	return false;
}

bool spec_ignored_variable(const struct spec *spec, const char *name, const char *file)
{
	return false;
}
