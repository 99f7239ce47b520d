/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "trace/writer.h"

#include "trace/output.h"
#include "trace/word_inl.h"

#include <stdlib.h>
#include <string.h>

/* Room of a block that a thread fills. */
#define BLOCK_ROOM ((64u << 10) - sizeof(struct trace_block))
/* An event with all its prefixes. */
#define EVENT_MAX (6 * sizeof(uint64_t))

/* Bytes that grow. */
struct bytes {
	char *data;
	uint64_t length, room;
};

struct thread {
	uint64_t *words; /* NULL until its first event */
	uint32_t used;
	uint32_t sequence;
};

struct module {
	struct trace_module head;
	struct bytes path, sites, functions, strings, variables, spec;
	uint64_t *string_table; /* open addressing; offset + 1 of a string, 0: free */
	uint64_t string_room, string_count;
};

struct trace_writer {
	struct output output;
	struct trace_header header;
	struct thread *threads;
	uint32_t thread_room;
	struct module module;
	bool in_module;
	uint32_t next_module;
	uint64_t next_site, next_function;
};

static void append(struct bytes *to, const void *data, uint64_t length)
{
	if (to->length + length > to->room) {
		to->room = (to->length + length) * 2 + 256;
		to->data = mem_resize(to->data, to->room, 1);
	}
	if (length)
		memcpy(to->data + to->length, data, length);
	to->length += length;
}

uint32_t trace_write_block(FILE *file, struct trace_block block, const void *data, uint32_t size)
{
	static const char zeros[TRACE_PAGE];
	uint32_t length = (uint32_t)(sizeof block + size + TRACE_PAGE - 1) / TRACE_PAGE * TRACE_PAGE;

	block.magic = TRACE_BLOCK_MAGIC;
	block.length = length;
	block.payload = size;
	fwrite(&block, sizeof block, 1, file);
	if (size)
		fwrite(data, 1, size, file);
	fwrite(zeros, 1, length - sizeof block - size, file);
	return length / TRACE_PAGE;
}

struct trace_writer *trace_writer_open(const char *path, uint32_t flags, struct err *err)
{
	struct trace_writer *w = mem_zalloc(1, sizeof *w);
	static const char page[TRACE_PAGE];

	if (output_open(&w->output, path, err)) {
		free(w);
		return NULL;
	}
	fwrite(page, 1, sizeof page, w->output.file);
	memcpy(w->header.magic, TRACE_MAGIC, sizeof w->header.magic);
	w->header.version = TRACE_VERSION;
	w->header.header_size = sizeof w->header;
	w->header.state = TRACE_FINISHED;
	w->header.flags = flags;
	w->header.next_page = 1;
	w->header.next_stamp = 1;
	w->next_site = 1;
	w->next_function = 1;
	return w;
}

struct trace_header *trace_writer_header(struct trace_writer *w)
{
	return &w->header;
}

void trace_writer_meta(struct trace_writer *w, enum trace_meta kind, uint32_t item, const void *data,
		       uint64_t length)
{
	struct trace_block block = {.kind = TRACE_BLOCK_META, .owner = kind, .item = item};
	const char *p = data;

	do {
		uint64_t most = TRACE_MAX_BLOCK - sizeof block;
		uint32_t part = (uint32_t)(length < most ? length : most);

		w->header.next_page += trace_write_block(w->output.file, block, p, part);
		p += part;
		length -= part;
		block.sequence++;
	} while (length);
}

static void free_module(struct module *m)
{
	free(m->path.data);
	free(m->sites.data);
	free(m->functions.data);
	free(m->strings.data);
	free(m->variables.data);
	free(m->spec.data);
	free(m->string_table);
}

/* References were noted as offset + 1 in the strings; now the distances are known. */
static void resolve(const struct module *m, struct bytes *table, uint64_t address, uint64_t entry_size,
		    uint64_t first, unsigned count)
{
	for (uint64_t entry = first; entry < table->length; entry += entry_size) {
		for (uint64_t at = entry; at < entry + 4 * count; at += 4) {
			int32_t reference;

			memcpy(&reference, table->data + at, 4);
			if (!reference)
				continue;
			reference += (int32_t)(m->head.strings_address - 1 - (address + at));
			memcpy(table->data + at, &reference, 4);
		}
	}
}

static void end_module(struct trace_writer *w)
{
	struct module *m = &w->module;
	struct bytes all = {0};
	/* Where the tables lay in a process that never was: only distances count. */
	uint64_t address = 0x100000;

	if (!w->in_module)
		return;
	m->head.sites_address = address;
	m->head.sites_length = m->sites.length;
	m->head.functions_address = address += m->sites.length;
	m->head.functions_length = m->functions.length;
	m->head.strings_address = address += m->functions.length;
	m->head.strings_length = m->strings.length;
	m->head.variables_address = address += m->strings.length;
	m->head.variables_length = m->variables.length;
	m->head.spec_length = m->spec.length;
	resolve(m, &m->sites, m->head.sites_address, sizeof(struct atomsan_site), 0, 5);
	resolve(m, &m->functions, m->head.functions_address, sizeof(struct atomsan_function), 0, 4);
	resolve(m, &m->functions, m->head.functions_address, sizeof(struct atomsan_function),
		offsetof(struct atomsan_function, calls), 1);
	resolve(m, &m->variables, m->head.variables_address, sizeof(struct atomsan_variable),
		offsetof(struct atomsan_variable, name), 3);
	append(&all, &m->head, sizeof m->head);
	append(&all, m->path.data, m->path.length);
	append(&all, m->sites.data, m->sites.length);
	append(&all, m->functions.data, m->functions.length);
	append(&all, m->strings.data, m->strings.length);
	append(&all, m->variables.data, m->variables.length);
	append(&all, m->spec.data, m->spec.length);
	trace_writer_meta(w, TRACE_META_MODULE, m->head.number, all.data, all.length);
	free(all.data);
	free_module(m);
	*m = (struct module){0};
	w->in_module = false;
}

_Static_assert(offsetof(struct atomsan_site, line) == 20 && offsetof(struct atomsan_function, line) == 16 &&
		       offsetof(struct atomsan_variable, line) ==
			       offsetof(struct atomsan_variable, name) + 12,
	       "five, four and three string references side by side");

void trace_writer_module(struct trace_writer *w, const char *path, const void *build_id,
			 uint32_t build_id_length)
{
	struct module *m = &w->module;

	end_module(w);
	m->head.number = w->next_module++;
	m->head.path_length = (uint32_t)strlen(path);
	m->head.build_id_length = build_id_length;
	m->head.first_site = w->next_site;
	m->head.first_function = w->next_function;
	append(&m->path, path, m->head.path_length);
	append(&m->path, build_id, build_id_length);
	w->in_module = true;
}

static uint64_t hash(const char *text)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (; *text; text++)
		h = (h ^ (uint8_t)*text) * 0x100000001b3ull;
	return h;
}

/* Doubles the table; what was in it is found again by running through the strings. */
static void grow_strings(struct module *m)
{
	m->string_room = m->string_room ? m->string_room * 2 : 256;
	free(m->string_table);
	m->string_table = mem_zalloc(m->string_room, sizeof *m->string_table);
	for (uint64_t at = 0; at < m->strings.length; at += strlen(m->strings.data + at) + 1) {
		uint64_t i = hash(m->strings.data + at) & (m->string_room - 1);

		while (m->string_table[i])
			i = (i + 1) & (m->string_room - 1);
		m->string_table[i] = at + 1;
	}
}

/* Offset + 1 of the text in the module's strings, each kept once. */
static int32_t intern(struct module *m, const char *text)
{
	uint64_t i;

	if (!text)
		return 0;
	if (m->string_count * 2 >= m->string_room)
		grow_strings(m);
	for (i = hash(text) & (m->string_room - 1); m->string_table[i]; i = (i + 1) & (m->string_room - 1))
		if (!strcmp(m->strings.data + m->string_table[i] - 1, text))
			return (int32_t)m->string_table[i];
	m->string_table[i] = m->strings.length + 1;
	m->string_count++;
	append(&m->strings, text, strlen(text) + 1);
	return (int32_t)m->string_table[i];
}

/* Distances have 31 bits: a module that comes near is followed by another. */
static void make_room(struct trace_writer *w)
{
	struct module *m = &w->module;

	if (!w->in_module ||
	    m->sites.length + m->functions.length + m->strings.length + m->variables.length > 1u << 30)
		trace_writer_module(w, "", NULL, 0);
}

uint32_t trace_writer_site(struct trace_writer *w, const struct trace_site *site)
{
	struct module *m = &w->module;
	struct atomsan_site raw;

	make_room(w);
	raw = (struct atomsan_site){.function = intern(m, site->function),
				    .file = intern(m, site->file),
				    .type = intern(m, site->type),
				    .member = intern(m, site->member),
				    .base = intern(m, site->base),
				    .line = site->line,
				    .column = site->column,
				    .size = site->size,
				    .kind = site->kind,
				    .order = site->order,
				    .base_kind =
					    (uint8_t)(site->base_kind | site->counts << ATOMSAN_COUNTS_SHIFT),
				    .flags = site->flags,
				    .offset = site->offset,
				    .type_size = site->type_size};
	append(&m->sites, &raw, sizeof raw);
	return (uint32_t)w->next_site++;
}

uint32_t trace_writer_function(struct trace_writer *w, const struct trace_function *function)
{
	struct module *m = &w->module;
	struct atomsan_function raw;

	make_room(w);
	raw = (struct atomsan_function){.name = intern(m, function->name),
					.linkage_name = intern(m, function->linkage_name),
					.file = intern(m, function->file),
					.receiver_type = intern(m, function->receiver_type),
					.line = function->line,
					.receiver = function->receiver,
					.flags = (uint16_t)function->flags,
					.more_flags = (uint16_t)(function->flags >> 16),
					.asm_blocks = function->asm_blocks,
					.calls = intern(m, function->calls)};
	append(&m->functions, &raw, sizeof raw);
	return (uint32_t)w->next_function++;
}

void trace_writer_variable(struct trace_writer *w, const struct trace_variable *variable)
{
	struct module *m = &w->module;
	struct atomsan_variable raw;

	make_room(w);
	raw = (struct atomsan_variable){.address = variable->address,
					.size = variable->size,
					.name = intern(m, variable->name),
					.file = intern(m, variable->file),
					.type = intern(m, variable->type),
					.line = variable->line,
					.element_size = variable->element_size,
					.flags = variable->flags};
	append(&m->variables, &raw, sizeof raw);
}

void trace_writer_spec(struct trace_writer *w, const char *text)
{
	make_room(w);
	append(&w->module.spec, text, strlen(text));
}

static void flush(struct trace_writer *w, uint32_t number, struct thread *thread)
{
	struct trace_block block = {
		.kind = TRACE_BLOCK_EVENTS, .owner = number, .sequence = thread->sequence++};

	w->header.next_page += trace_write_block(w->output.file, block, thread->words,
						 thread->used * (uint32_t)sizeof(uint64_t));
	thread->used = 0;
}

uint64_t trace_writer_stamp(struct trace_writer *w)
{
	return w->header.next_stamp++;
}

static struct thread *find_thread(struct trace_writer *w, uint32_t number)
{
	struct thread *thread;

	if (number >= w->thread_room) {
		uint32_t room = number * 2 + 16;

		w->threads = mem_resize(w->threads, room, sizeof *w->threads);
		memset(w->threads + w->thread_room, 0, (room - w->thread_room) * sizeof *w->threads);
		w->thread_room = room;
	}
	if (number >= w->header.threads)
		w->header.threads = number + 1;
	thread = &w->threads[number];
	if (!thread->words)
		thread->words = mem_alloc(BLOCK_ROOM);
	if (thread->used * sizeof(uint64_t) + EVENT_MAX > BLOCK_ROOM)
		flush(w, number, thread);
	return thread;
}

void trace_writer_event(struct trace_writer *w, struct trace_event *e)
{
	struct thread *thread = find_thread(w, e->thread);
	uint64_t *at = thread->words + thread->used;
	uint64_t low = e->address & WORD_ADDRESS_MASK;
	bool op = e->kind == TRACE_OP;
	uint32_t id = e->kind == TRACE_ENTER || e->kind == TRACE_EXIT ? e->function : e->site;
	uint32_t most = op ? TRACE_OP_SITE_MAX : TRACE_ID_MAX;
	unsigned prefixes = e->prefixes & (1 << TRACE_PREFIX_VALUE | 1 << TRACE_PREFIX_OTHER);

	if (e->value && e->kind != TRACE_ACCESS)
		prefixes |= 1 << TRACE_PREFIX_VALUE;
	if (e->other)
		prefixes |= 1 << TRACE_PREFIX_OTHER;
	if (prefixes & 1 << TRACE_PREFIX_VALUE)
		*at++ = word_prefix(TRACE_PREFIX_VALUE, e->value);
	if (prefixes & 1 << TRACE_PREFIX_OTHER)
		*at++ = word_prefix(TRACE_PREFIX_OTHER, e->other);
	if (id >= most) {
		*at++ = word_prefix(TRACE_PREFIX_SITE, id);
		id = most;
	}
	if (e->address && e->kind != TRACE_EXIT && word_expand(w->header.regions, low) != e->address)
		*at++ = word_prefix(TRACE_PREFIX_REGION, e->address >> TRACE_ADDRESS_BITS);
	if (op && !e->stamped && !(e->key && id)) {
		e->key = trace_writer_stamp(w);
		e->stamped = true;
	}
	if (e->stamped && e->key >= w->header.next_stamp)
		w->header.next_stamp = e->key + 1;
	if (op) {
		*at++ = word_make(TRACE_OP, (uint32_t)e->flags << TRACE_OP_BITS | e->op, low);
		*at++ = (e->stamped ? e->key << TRACE_STAMP_SHIFT : 0) | id;
	} else if (e->stamped) {
		*at++ = word_make(TRACE_STAMPED, id, low);
		*at++ = e->key << TRACE_STAMP_SHIFT;
	} else {
		*at++ = word_make(e->kind, id, e->kind == TRACE_EXIT ? 0 : low);
	}
	thread->used = (uint32_t)(at - thread->words);
}

static void release(struct trace_writer *w)
{
	for (uint32_t i = 0; i < w->thread_room; i++)
		free(w->threads[i].words);
	free(w->threads);
	free_module(&w->module);
	free(w);
}

int trace_writer_finish(struct trace_writer *w, struct err *err)
{
	int failed;

	end_module(w);
	for (uint32_t i = 0; i < w->thread_room; i++)
		if (w->threads[i].used)
			flush(w, i, &w->threads[i]);
	rewind(w->output.file);
	fwrite(&w->header, sizeof w->header, 1, w->output.file);
	failed = output_commit(&w->output, err);
	release(w);
	return failed;
}

void trace_writer_abandon(struct trace_writer *w)
{
	if (!w)
		return;
	output_abandon(&w->output);
	release(w);
}
