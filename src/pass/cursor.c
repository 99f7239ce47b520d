/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "pass/pass.h"

#include <stdio.h>
#include <string.h>

void cursor_begin(struct cursor *c, LLVMMetadataRef type)
{
	*c = (struct cursor){.type = type ? di_strip(type) : NULL, .bit = -1};
}

void cursor_move(struct cursor *c, int64_t bytes)
{
	/* Backwards, out of the object: to one that contains it. */
	if (bytes < 0 && (uint64_t)-bytes > c->offset)
		cursor_begin(c, NULL);
	else
		c->offset += (uint64_t)bytes;
}

static void append(struct cursor *c, const char *dot, const char *text)
{
	size_t used = strlen(c->path);

	snprintf(c->path + used, sizeof c->path - used, "%s%s", used ? dot : "", text);
}

static void into_element(struct cursor *c)
{
	LLVMMetadataRef element = di_strip(di_base(c->type));

	/* An array that is no member is the object's surroundings, not a part of its name. */
	if (*c->path)
		append(c, "", "[]");
	c->array = true;
	c->type = element;
	if (di_size(element))
		c->offset %= di_size(element);
}

static bool is_bitfield(LLVMMetadataRef member)
{
	return !di_is_base(member) && di_flags(member) & LLVMDIFlagBitField;
}

static void into_member(struct cursor *c, LLVMMetadataRef member)
{
	const char *name = di_name(member);

	/* What a base class declares is the base class's, wherever it is met; what an
	 * anonymous struct or union inside declares is the enclosing one's. */
	if (!di_is_base(member)) {
		if (!c->owner) {
			c->owner = c->type;
			c->begin = 0;
		}
		if (*name)
			append(c, ".", strncmp(name, "_vptr$", 6) ? name : "(vptr)");
	}
	c->bitfield = is_bitfield(member);
	/* What is accessed of a bit-field is the storage that it shares. */
	if (c->bitfield) {
		c->begin += c->offset;
		c->offset = 0;
	} else {
		c->begin += LLVMDITypeGetOffsetInBits(member) / 8;
		c->offset -= LLVMDITypeGetOffsetInBits(member) / 8;
	}
	c->type = di_strip(di_base(member));
}

static uint64_t bytes_of(LLVMMetadataRef member)
{
	LLVMMetadataRef of = di_strip(di_base(member));
	uint64_t bytes = di_is_base(member) ? di_size(of) : di_size(member);

	/* A flexible array has no end. */
	return !bytes && di_is_array(of) ? UINT64_MAX : bytes;
}

static bool covers(const struct cursor *c, LLVMMetadataRef member, uint64_t size)
{
	uint64_t begin = LLVMDITypeGetOffsetInBits(member), bits = LLVMDITypeGetSizeInBits(member);

	if (!is_bitfield(member))
		return c->offset >= begin / 8 && c->offset - begin / 8 < bytes_of(member);
	if (c->bit >= 0)
		return c->offset * 8 + (uint64_t)c->bit >= begin &&
		       c->offset * 8 + (uint64_t)c->bit < begin + bits;
	return begin < (c->offset + size) * 8 && begin + bits > c->offset * 8;
}

/* Depth first; every union member is tried. */
static bool enter(struct cursor *c, const char *llvm_name, uint64_t size)
{
	LLVMMetadataRef elements;
	unsigned count;

	if (di_is_array(c->type)) {
		into_element(c);
		return enter(c, llvm_name, size);
	}
	if (!di_is_struct(c->type))
		return false;
	if (types_match(c->type, llvm_name, size))
		return true;
	elements = di_elements(c->type);
	count = di_count(elements);
	for (unsigned i = 0; i < count; i++) {
		LLVMMetadataRef member = di_element(elements, i);
		struct cursor inner = *c;

		if (!di_is_member(member) || is_bitfield(member) || !covers(c, member, 1))
			continue;
		into_member(&inner, member);
		if (enter(&inner, llvm_name, size)) {
			*c = inner;
			return true;
		}
	}
	return false;
}

void cursor_enter(struct cursor *c, const char *llvm_name, uint64_t size)
{
	struct cursor inner = *c;

	if (c->type && enter(&inner, llvm_name, size)) {
		*c = inner;
		return;
	}
	cursor_begin(c, NULL);
	c->named = c->type = types_find(llvm_name, size, &c->name);
}

/* In a union, the member that looks like the access is the one that is meant. */
static int likeness(LLVMMetadataRef type, uint64_t size, enum shape shape)
{
	const char *name = type ? di_name(type) : "";
	enum shape mine = di_is_pointer(type)                               ? SHAPE_POINTER
			  : strstr(name, "float") || strstr(name, "double") ? SHAPE_FLOAT
									    : SHAPE_INTEGER;

	return 1 + 2 * (size == di_size(type)) + (shape == mine);
}

/* Goes on to the smallest member that holds the access. Returns how well it fits, -1 for not at all. */
static int end(struct cursor *c, uint64_t size, enum shape shape)
{
	LLVMMetadataRef elements;
	unsigned count;
	int best = -1;
	struct cursor found = *c;

	if (di_is_array(c->type)) {
		bool whole = shape == SHAPE_WHOLE && !c->offset && (!size || size >= di_size(c->type));
		LLVMMetadataRef element = di_strip(di_base(c->type));

		if (whole)
			return 3;
		if (di_size(element) < size && di_is_struct(element)) {
			if (*c->path)
				append(c, "", "[]");
			c->array = true;
			return 1;
		}
		into_element(c);
		return end(c, size, shape);
	}
	if (!di_is_struct(c->type))
		return c->type ? likeness(c->type, size, shape) : 0;
	elements = di_elements(c->type);
	count = di_count(elements);
	for (unsigned i = 0; i < count && (best <= 0 || di_is_union(c->type)); i++) {
		LLVMMetadataRef member = di_element(elements, i);
		struct cursor inner = *c, outer;
		int fit;

		if (!di_is_member(member) || !covers(c, member, size))
			continue;
		into_member(&inner, member);
		outer = inner;
		if (inner.bitfield)
			fit = 1;
		else if (size > bytes_of(member) - inner.offset)
			fit = 0; /* begins here and ends elsewhere */
		else if (shape == SHAPE_WHOLE && !inner.offset && (!size || size == bytes_of(member)))
			fit = 3;
		else
			fit = end(&inner, size, shape);
		/* Spread over what lies inside: the member as a whole, if it has a name. */
		if (outer.type != inner.type && fit <= 0 && strcmp(outer.path, c->path)) {
			inner = outer;
			fit = 1;
		}
		if (fit > best) {
			best = fit;
			found = inner;
		}
	}
	*c = found;
	return best;
}

void cursor_end(struct cursor *c, uint64_t size, enum shape shape)
{
	if (end(c, size, shape) >= 0 || !di_is_struct(c->type) || !di_size(c->type) ||
	    c->offset < di_size(c->type))
		return;
	/* Beyond the object lie others of its type: an unrolled loop over an array. */
	c->offset %= di_size(c->type);
	end(c, size, shape);
}
