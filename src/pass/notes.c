/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Notes survive optimisation twice over: as metadata on the instruction, which
 * is exact but dropped by many transformations, and in a table by source
 * position and kind, which inlining and most motion keep. Where two different
 * notes share a position the table says only what both agree on.
 */
#include "pass/pass.h"

#include <stdlib.h>
#include <string.h>

/* ---- texts ---- */

static char **texts;
static size_t text_count, text_room;

static size_t text_hash(const char *s)
{
	size_t h = 1469598103934665603ull;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211ull;
	return h;
}

static size_t text_slot(const char *text)
{
	size_t at = text_hash(text) & (text_room - 1);

	while (texts[at] && strcmp(texts[at], text))
		at = (at + 1) & (text_room - 1);
	return at;
}

const char *note_text(const char *text)
{
	size_t at;

	if (!*text)
		return "";
	if (text_count * 2 >= text_room) {
		char **old = texts;
		size_t old_room = text_room;

		text_room = old_room ? old_room * 2 : 4096;
		texts = calloc(text_room, sizeof *texts);
		for (size_t i = 0; i < old_room; i++)
			if (old[i])
				texts[text_slot(old[i])] = old[i];
		free(old);
	}
	at = text_slot(text);
	if (!texts[at]) {
		texts[at] = strdup(text);
		text_count++;
	}
	return texts[at];
}

/* ---- by position ---- */

struct entry {
	LLVMMetadataRef subprogram; /* NULL: free */
	unsigned line, column;
	bool write;
	struct note note;
};
static struct entry *entries;
static size_t entry_count, entry_room;

static size_t entry_slot(const struct entry *key)
{
	size_t h = ((size_t)key->subprogram >> 4) * 31 + key->line;
	size_t at =
		((h * 31 + key->column) * 2 + key->write) * 0x9e3779b97f4a7c15ull >> 16 & (entry_room - 1);

	while (entries[at].subprogram &&
	       (entries[at].subprogram != key->subprogram || entries[at].line != key->line ||
		entries[at].column != key->column || entries[at].write != key->write))
		at = (at + 1) & (entry_room - 1);
	return at;
}

static bool position(LLVMValueRef instruction, bool write, struct entry *key)
{
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(instruction);

	if (!location)
		return false;
	key->subprogram = di_subprogram(LLVMDILocationGetScope(location));
	key->line = LLVMDILocationGetLine(location);
	key->column = LLVMDILocationGetColumn(location);
	key->write = write;
	return key->subprogram && key->line;
}

static void merge(struct note *into, const struct note *note)
{
	if (strcmp(into->type, note->type) || strcmp(into->member, note->member))
		into->type = into->member = "";
	/* One name for several types (instances of a template) has no layout. */
	if (!*into->type || into->offset != note->offset || into->type_size != note->type_size)
		into->offset = into->type_size = 0;
	if (into->base_kind != note->base_kind || strcmp(into->base, note->base)) {
		into->base_kind = ATOMSAN_BASE_UNKNOWN;
		into->base = "";
	}
	into->flags &= note->flags | ATOMSAN_SITE_MEMBER;
	into->flags |= note->flags & ATOMSAN_SITE_MEMBER;
}

static void remember(LLVMValueRef instruction, const struct note *note, bool write)
{
	struct entry key = {.note = *note};
	size_t at;

	if (!position(instruction, write, &key))
		return;
	if (entry_count * 2 >= entry_room) {
		struct entry *old = entries;
		size_t old_room = entry_room;

		entry_room = old_room ? old_room * 2 : 4096;
		entries = calloc(entry_room, sizeof *entries);
		for (size_t i = 0; i < old_room; i++)
			if (old[i].subprogram)
				entries[entry_slot(&old[i])] = old[i];
		free(old);
	}
	at = entry_slot(&key);
	if (entries[at].subprogram) {
		merge(&entries[at].note, note);
	} else {
		entries[at] = key;
		entry_count++;
	}
}

/* ---- as metadata: !{type, member, base, base_kind, flags, offset, type_size} ---- */

static unsigned metadata_kind(LLVMValueRef instruction, const char *name)
{
	return LLVMGetMDKindIDInContext(LLVMGetModuleContext(LLVMGetGlobalParent(LLVMGetBasicBlockParent(
						LLVMGetInstructionParent(instruction)))),
					name, (unsigned)strlen(name));
}

/* A copy has two: what it reads and what it writes. */
static unsigned note_kind(LLVMValueRef instruction, bool write)
{
	return metadata_kind(instruction, write ? "atomsan.write" : "atomsan.read");
}

static LLVMMetadataRef text_node(LLVMContextRef context, const char *text)
{
	return LLVMMDStringInContext2(context, text, strlen(text));
}

static LLVMMetadataRef number_node(LLVMContextRef context, uint64_t n)
{
	return LLVMValueAsMetadata(LLVMConstInt(LLVMInt64TypeInContext(context), n, false));
}

void note_attach(LLVMValueRef instruction, const struct note *note, bool write)
{
	LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(instruction));
	LLVMMetadataRef parts[7] = {
		text_node(context, note->type),       text_node(context, note->member),
		text_node(context, note->base),       number_node(context, note->base_kind),
		number_node(context, note->flags),    number_node(context, note->offset),
		number_node(context, note->type_size)};

	LLVMSetMetadata(instruction, note_kind(instruction, write),
			LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, parts, 7)));
	remember(instruction, note, write);
}

static const char *part_text(LLVMValueRef part)
{
	unsigned length;
	const char *text = part && LLVMIsAMDString(part) ? LLVMGetMDString(part, &length) : NULL;

	return text ? note_text(text) : "";
}

static uint64_t part_number(LLVMValueRef part)
{
	return part && LLVMIsAConstantInt(part) ? LLVMConstIntGetZExtValue(part) : 0;
}

bool note_find(LLVMValueRef instruction, bool write, struct note *note)
{
	LLVMValueRef node = LLVMGetMetadata(instruction, note_kind(instruction, write));
	LLVMValueRef parts[7];
	struct entry key;
	size_t at;

	*note = (struct note){"", "", "", 0, 0, 0, 0};
	if (node && LLVMGetMDNodeNumOperands(node) == 7) {
		LLVMGetMDNodeOperands(node, parts);
		note->type = part_text(parts[0]);
		note->member = part_text(parts[1]);
		note->base = part_text(parts[2]);
		note->base_kind = (unsigned)part_number(parts[3]);
		note->flags = (unsigned)part_number(parts[4]);
		note->offset = part_number(parts[5]);
		note->type_size = part_number(parts[6]);
		return true;
	}
	if (!entry_room || !position(instruction, write, &key))
		return false;
	at = entry_slot(&key);
	if (!entries[at].subprogram)
		return false;
	*note = entries[at].note;
	return true;
}

void note_attach_value(LLVMValueRef instruction, LLVMMetadataRef type)
{
	LLVMSetMetadata(instruction, metadata_kind(instruction, "atomsan.value"),
			LLVMMetadataAsValue(LLVMGetTypeContext(LLVMTypeOf(instruction)), type));
}

LLVMMetadataRef note_find_value(LLVMValueRef instruction)
{
	LLVMValueRef node = LLVMGetMetadata(instruction, metadata_kind(instruction, "atomsan.value"));

	return node ? LLVMValueAsMetadata(node) : NULL;
}

void notes_forget(void)
{
	for (size_t i = 0; i < text_room; i++)
		free(texts[i]);
	free(texts);
	free(entries);
	texts = NULL;
	entries = NULL;
	text_count = text_room = entry_count = entry_room = 0;
}
