/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/variable.h"

#include <string.h>

#include "abi/hooks.h"

bool variable_is_plain(const struct program *p, uint32_t global)
{
	return !(p->globals[global].flags & (GLOBAL_CONSTANT | GLOBAL_THREAD_LOCAL));
}

uint64_t variable_key(uint32_t node, const char *name)
{
	uint64_t hash = 0xcbf29ce484222325ull ^ node;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3ull;
	return hash ? hash : 1;
}

static const char *global_name(const struct lint *lint, uint32_t object)
{
	const struct program *p = &lint->program;

	return program_text(p, p->globals[lint->pt.objects.at[object].index].name);
}

/* All objects of a node are looked at once, however many accesses ask: there may be thousands of both. */
static uint32_t tell(struct lint *lint, struct naming *naming, uint32_t node)
{
	struct telling found = {0};
	uint32_t cookie, count = 0;
	int best = 0;

	for (uint32_t o = shape_first(lint->pt.shape, node, &cookie); o;
	     o = shape_next(lint->pt.shape, &cookie)) {
		const struct object *object = &lint->pt.objects.at[o];
		bool global = object->kind == OBJECT_GLOBAL;
		int worth = 1 + global + (global && variable_is_plain(&lint->program, object->index));

		count++;
		if (worth > best) {
			found.object = o;
			best = worth;
		}
		if (!global)
			continue;
		uint64_t key = variable_key(node, global_name(lint, o));

		while (map_get(&naming->globals, key))
			key++;
		map_set(&naming->globals, key, o);
	}
	found.sure = count == 1;
	vec_push(&naming->telling, found);
	map_set(&naming->told, node, naming->telling.count);
	return naming->telling.count;
}

/* An object of the node that tells what it is; not sure if there are others, and none has the name. */
static const struct object *telling_object(struct lint *lint, struct naming *naming, uint32_t node,
					   const char *name, bool *sure)
{
	uint32_t told = map_get(&naming->told, node), o;

	if (!told)
		told = tell(lint, naming, node);
	for (uint64_t key = variable_key(node, name); *name && (o = map_get(&naming->globals, key)); key++)
		if (shape_find(lint->pt.shape, (struct shape_cell){lint->pt.objects.at[o].node, 0}).node ==
			    node &&
		    !strcmp(global_name(lint, o), name)) {
			*sure = true;
			return &lint->pt.objects.at[o];
		}
	*sure = naming->telling.at[told - 1].sure;
	o = naming->telling.at[told - 1].object;
	return o ? &lint->pt.objects.at[o] : NULL;
}

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool is_primitive(const char *type)
{
	static const char *const types[] = {
		"pthread_",         "__pthread",         "mtx_t",         "cnd_t",
		"std::mutex",       "std::__mutex",      "std::thread",   "std::recursive",
		"std::condition",   "std::shared_mutex", "_IO_FILE",      "sem_t",
		"std::unique_lock", "std::lock_guard",   "std::__condvar"};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (starts(type, types[i]))
			return true;
	return false;
}

/* False if it is nothing that could be inconsistent. */
static bool name_variable(struct lint *lint, struct naming *naming, uint32_t node, uint32_t note,
			  struct variable *v, bool *whole)
{
	const struct program *p = &lint->program;
	const struct program_note *n = &p->notes[note];
	const char *type = program_text(p, n->type), *member = program_text(p, n->member);
	const char *base = n->base_kind == ATOMSAN_BASE_GLOBAL ? program_text(p, n->base) : "";
	const struct object *object;
	bool sure;

	*whole = false;
	if (*type) {
		if (is_primitive(type) || strstr(member, "(vptr)"))
			return false;
		v->set = type;
		*whole = !*member;
		v->name = *member ? lint_text(lint, mem_textf("%s.%s", type, member)) : type;
		return true;
	}
	object = telling_object(lint, naming, node, base, &sure);
	if (!object)
		return false;
	v->vague = !sure;
	switch ((enum object_kind)object->kind) {
	case OBJECT_GLOBAL: {
		const struct program_global *g = &p->globals[object->index];

		if (!variable_is_plain(p, object->index))
			return false;
		v->name = *base ? base : program_text(p, g->name);
		v->set = lint_text(lint, mem_textf("globals of %s", program_text(p, g->file)));
		return true;
	}
	case OBJECT_HEAP:
	case OBJECT_LOCAL:
		v->name = v->set = lint_text(
			lint,
			mem_textf("block of %s",
				  program_text(p, p->functions[program_function_of(p, object->index)].name)));
		return true;
	default:
		return false;
	}
}

/* Are they known to be two members of one struct, each a thing of the C++ library's: counts.read,
 * counts.written? Their functions are inlined, so that the way to them is seen. */
static bool are_two(const char *a, const char *b, const char *inner)
{
	const char *x = strchr(a, '.'), *y = strchr(b, '.');

	return starts(inner, "std::") && !starts(a, "std::") && x && y && x - a == y - b &&
	       !strncmp(a, b, (size_t)(x - a)) && strcmp(a, b) != 0;
}

/* By its name; by what it is in the innermost struct, if the name is of that, and `of` is its name. */
static uint32_t find_variable(struct lint *lint, struct naming *naming, uint32_t node, const char *name,
			      const char *of, uint64_t *key)
{
	struct accesses *a = &lint->accesses;
	uint32_t number;

	*key = variable_key(node, name);
	for (; (number = map_get(&naming->by_key, *key)); ++*key)
		if (a->variables.at[number].node == node &&
		    (!strcmp(a->variables.at[number].name, name) ||
		     (a->variables.at[number].inner && !strcmp(a->variables.at[number].inner, name) &&
		      !(of && are_two(a->variables.at[number].name, of, name)))))
			return number;
	return 0;
}

static unsigned dots(const char *name)
{
	unsigned n = 0;

	for (; *name; name++)
		n += *name == '.';
	return n;
}

/* Are both of the same struct, or is one of the two names the other with more of the way to it:
 * database.results.count, table.count? */
static bool same_way(const char *a, const char *b)
{
	const char *x = strchr(a, '.'), *y = strchr(b, '.');
	size_t m = x ? strlen(x) : 0, n = y ? strlen(y) : 0;

	if (x && y && x - a == y - b && !strncmp(a, b, (size_t)(x - a)))
		return true;
	if (m == n)
		return !strcmp(a, b);
	return m > n ? !strcmp(x + (m - n), y ? y : "") : !strcmp(y + (n - m), x ? x : "");
}

uint32_t variable_of(struct lint *lint, struct naming *naming, uint32_t node, uint32_t note, bool *whole)
{
	struct accesses *a = &lint->accesses;
	const char *inner = program_text(&lint->program, lint->program.notes[note].inner);
	struct variable v = {.node = node};
	uint64_t inner_key = 0, name_key = 0;
	uint32_t number = 0;

	if (!name_variable(lint, naming, node, note, &v, whole))
		return 0;
	if (*inner && !*whole) {
		v.inner = inner;
		number = find_variable(lint, naming, node, inner, v.name, &inner_key);
	}
	uint32_t named = find_variable(lint, naming, node, v.name, NULL, &name_key);

	if (!number)
		number = named;
	if (!number) {
		number = a->variables.count;
		v.next = map_get(&naming->by_node, (uint64_t)node);
		vec_push(&a->variables, v);
		map_set(&naming->by_node, (uint64_t)node, number);
		named = 0;
	} else {
		/* What lies in different things, and goes by the same pointers, is many things. */
		a->variables.at[number].vague |= !same_way(v.name, a->variables.at[number].name);
		if (dots(v.name) > dots(a->variables.at[number].name)) {
			a->variables.at[number].name = v.name;
			a->variables.at[number].set = v.set;
		}
	}
	if (inner_key && !map_get(&naming->by_key, inner_key)) {
		a->variables.at[number].inner = inner;
		map_set(&naming->by_key, inner_key, number);
	}
	if (!named && !map_get(&naming->by_key, name_key))
		map_set(&naming->by_key, name_key, number);
	return number;
}

void variable_release(struct naming *naming)
{
	map_release(&naming->by_key);
	map_release(&naming->by_node);
	map_release(&naming->told);
	map_release(&naming->globals);
	vec_free(&naming->telling);
}
