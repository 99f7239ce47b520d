/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The executable and the instrumented shared objects, with the numbers that
 * their sites and functions have in the trace. Numbers are never given twice:
 * an object that is unloaded keeps its own, and loaded again gets new ones.
 */
#include "rt/rt.h"
#include "rt/sections.h"
#include "rt/sys.h"
#include "rt/unmet.h"
#include "rt/watch.h"

#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>

enum { MODULES = 1024 };
struct table {
	uint64_t begin, length; /* addresses; length 0: unloaded */
	uint64_t first;         /* global number of the first entry */
};
static struct module {
	struct table sites, functions;
	struct table variables; /* has no numbers */
	const char *strings, *spec;
	uint64_t strings_length, spec_length;
} modules[MODULES];
static uint32_t module_count;
static uint64_t next_site = 1, next_function = 1;
static uint32_t lock;

struct rt_numbers rt_numbers;

/* The linker's bounds of the executable's own tables; absent if it has none. */
#define BOUND __attribute__((weak, visibility("hidden")))
extern const struct atomsan_site __start_atomsan_sites[] BOUND, __stop_atomsan_sites[] BOUND;
extern const struct atomsan_function __start_atomsan_fns[] BOUND, __stop_atomsan_fns[] BOUND;
extern const char __start_atomsan_str[] BOUND, __stop_atomsan_str[] BOUND;
extern const struct atomsan_variable __start_atomsan_vars[] BOUND, __stop_atomsan_vars[] BOUND;
extern const char __start_atomsan_spec[] BOUND, __stop_atomsan_spec[] BOUND;

static uint64_t find(uint64_t address, uint64_t size, bool function)
{
	uint32_t count = __atomic_load_n(&module_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count; i++) {
		const struct table *table = function ? &modules[i].functions : &modules[i].sites;
		uint64_t distance = address - table->begin;

		if (distance < table->length)
			return distance / size + table->first;
	}
	return 0;
}

uint64_t rt_module_find_site(uint64_t address) ATOMSAN_KEEPS_REGISTERS
{
	return find(address, sizeof(struct atomsan_site), false);
}

uint64_t rt_module_find_function(uint64_t address) ATOMSAN_KEEPS_REGISTERS
{
	return find(address, sizeof(struct atomsan_function), true);
}

/* Does the program itself say what is a unit? */
static bool declares_units(const struct module *module)
{
	for (uint64_t i = 0; i + 4 < module->spec_length; i++) {
		const char *line = module->spec + i;

		if ((!i || line[-1] == '\n' || !line[-1]) && line[0] == 'u' && line[1] == 'n' &&
		    line[2] == 'i' && line[3] == 't')
			return true;
	}
	return false;
}

bool rt_module_declares_units(void)
{
	uint32_t count = __atomic_load_n(&module_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count; i++)
		if (declares_units(&modules[i]))
			return true;
	return false;
}

const struct atomsan_variable *rt_module_variable(uint64_t address) ATOMSAN_KEEPS_REGISTERS
{
	uint32_t count = __atomic_load_n(&module_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count; i++) {
		const struct atomsan_variable *variable =
			(const struct atomsan_variable *)modules[i].variables.begin;
		uint64_t length = modules[i].variables.length / sizeof *variable;

		for (uint64_t n = 0; n < length; n++)
			if (address - variable[n].address < variable[n].size)
				return &variable[n];
	}
	return NULL;
}

const struct atomsan_variable *rt_module_variable_named(const char *name, uint32_t nth)
{
	for (uint32_t i = 0; i < module_count; i++) {
		const struct atomsan_variable *variable =
			(const struct atomsan_variable *)modules[i].variables.begin;
		uint64_t length = modules[i].variables.length / sizeof *variable;

		for (uint64_t n = 0; n < length; n++) {
			const char *theirs = (const char *)&variable[n].name + variable[n].name;
			const char *ours = name;

			while (*ours && *ours == *theirs) {
				ours++;
				theirs++;
			}
			if (variable[n].name && *ours == *theirs && !nth--)
				return &variable[n];
		}
	}
	return NULL;
}

/* Path, bias and build-id of the object that an address belongs to. */
struct object {
	uint64_t address;
	char path[PATH_MAX];
	uint64_t bias;
	unsigned char build_id[64];
	uint32_t build_id_length;
};

static void read_build_id(struct object *object, const struct dl_phdr_info *info, const ElfW(Phdr) * segment)
{
	const char *p = (const char *)(info->dlpi_addr + segment->p_vaddr), *end = p + segment->p_memsz;

	while (p + sizeof(ElfW(Nhdr)) <= end) {
		const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)p;
		const char *name = p + sizeof *note;
		const char *text = name + ((note->n_namesz + 3) & ~3u);

		p = text + ((note->n_descsz + 3) & ~3u);
		if (p > end)
			return;
		if (note->n_type != NT_GNU_BUILD_ID || note->n_namesz != 4 || name[0] != 'G' ||
		    name[1] != 'N')
			continue;
		for (uint32_t i = 0; i < note->n_descsz && i < sizeof object->build_id; i++) {
			object->build_id[i] = (unsigned char)text[i];
			object->build_id_length = i + 1;
		}
		return;
	}
}

static int match_object(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct object *object = argument;
	bool here = false;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		here |= segment->p_type == PT_LOAD &&
			object->address - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz;
	}
	if (!here)
		return 0;
	object->bias = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE && !object->build_id_length)
			read_build_id(object, info, &info->dlpi_phdr[i]);
	if (info->dlpi_name && *info->dlpi_name) {
		unsigned n = 0;

		for (; info->dlpi_name[n] && n < sizeof object->path - 1; n++)
			object->path[n] = info->dlpi_name[n];
		object->path[n] = 0;
	} else {
		long n = sys3(readlink, "/proc/self/exe", object->path, sizeof object->path - 1);

		object->path[n > 0 ? n : 0] = 0;
	}
	return 1;
}

static void write_module(uint32_t number)
{
	const struct module *module = &modules[number];
	static struct object object; /* a page and more: not on a small stack */
	struct trace_module text = {
		.number = number,
		.first_site = module->sites.first,
		.sites_address = module->sites.begin,
		.sites_length = module->sites.length,
		.first_function = module->functions.first,
		.functions_address = module->functions.begin,
		.functions_length = module->functions.length,
		.strings_address = (uint64_t)module->strings,
		.strings_length = module->strings_length,
		.variables_address = module->variables.begin,
		.variables_length = module->variables.length,
		.spec_length = module->spec_length,
	};

	object = (struct object){.address = module->sites.length       ? module->sites.begin
					    : module->functions.length ? module->functions.begin
								       : module->variables.begin};
	rt_self.inside++;
	dl_iterate_phdr(match_object, &object);
	rt_self.inside--;
	while (object.path[text.path_length])
		text.path_length++;
	text.build_id_length = object.build_id_length;
	text.load_bias = object.bias;

	struct rt_piece pieces[] = {
		{&text, sizeof text},
		{object.path, text.path_length},
		{object.build_id, text.build_id_length},
		{(void *)module->sites.begin, module->sites.length},
		{(void *)module->functions.begin, module->functions.length},
		{module->strings, module->strings_length},
		{(void *)module->variables.begin, module->variables.length},
		{module->spec, module->spec_length},
	};
	rt_file_meta(TRACE_META_MODULE, pieces, sizeof pieces / sizeof *pieces);
}

bool rt_module_is_build(const struct atomsan_site *sites, const char *build, uint32_t length)
{
	static const char digits[] = "0123456789abcdef";
	static struct object object;

	if (!length)
		return true;
	object = (struct object){.address = (uint64_t)sites};
	rt_self.inside++;
	dl_iterate_phdr(match_object, &object);
	rt_self.inside--;
	if (length != 2 * object.build_id_length)
		return false;
	for (uint32_t i = 0; i < length; i++) {
		unsigned char byte = object.build_id[i / 2];

		if (build[i] != digits[i % 2 ? byte & 15 : byte >> 4])
			return false;
	}
	return true;
}

void rt_module_each(void (*each)(const struct atomsan_site *sites, uint64_t count, uint64_t first,
				 const struct atomsan_function *functions, uint64_t function_count))
{
	for (uint32_t i = 0; i < module_count; i++)
		if (modules[i].sites.length)
			each((const struct atomsan_site *)modules[i].sites.begin,
			     modules[i].sites.length / sizeof(struct atomsan_site), modules[i].sites.first,
			     (const struct atomsan_function *)modules[i].functions.begin,
			     modules[i].functions.length / sizeof(struct atomsan_function));
}

/* Empty tables have no address of their own. */
static bool is_loaded(const struct module *module)
{
	return module->sites.length || module->functions.length || module->variables.length;
}

static bool is_same(const struct module *module, const struct atomsan_module *given)
{
	return module->sites.begin == (uint64_t)given->sites_begin &&
	       module->functions.begin == (uint64_t)given->functions_begin &&
	       module->variables.begin == (uint64_t)given->variables_begin;
}

void rt_module_write_all(void)
{
	for (uint32_t i = 0; i < module_count; i++)
		if (is_loaded(&modules[i]))
			write_module(i);
}

/* Constructors run one at a time, but dlopen in two threads may run two. */
static void enter(void)
{
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		sys0(sched_yield);
}

static void leave(void)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

EXPORT void __atomsan_module_register(struct atomsan_module *given)
{
	uint64_t sites = (uint64_t)given->sites_begin, functions = (uint64_t)given->functions_begin;
	uint64_t variables = (uint64_t)given->variables_begin;
	struct module *module;
	uint32_t number;

	if (given->abi_version != ATOMSAN_ABI_VERSION) {
		rt_say("a module was compiled by an atomsan with hooks version %u, this program's runtime "
		       "has %u: "
		       "compile both with the same; the module's accesses are not seen",
		       (uint64_t)given->abi_version, (uint64_t)ATOMSAN_ABI_VERSION);
		rt_count(TRACE_COUNT_MODULES_REFUSED);
		return;
	}
	enter();
	/* The executable's constructor comes after rt_module_executable(). */
	for (uint32_t i = 0; i < module_count; i++)
		if (is_same(&modules[i], given) && is_loaded(&modules[i]))
			goto out;
	number = module_count;
	if (number == MODULES) {
		rt_count(TRACE_COUNT_MODULES_REFUSED);
		goto out;
	}
	module = &modules[number];
	module->sites = (struct table){sites, (uint64_t)given->sites_end - sites, next_site};
	module->functions =
		(struct table){functions, (uint64_t)given->functions_end - functions, next_function};
	module->variables = (struct table){variables, (uint64_t)given->variables_end - variables, 0};
	module->spec = given->spec_begin;
	module->spec_length = (uint64_t)(given->spec_end - given->spec_begin);
	module->strings = given->strings_begin;
	module->strings_length = (uint64_t)(given->strings_end - given->strings_begin);
	next_site += module->sites.length / sizeof(struct atomsan_site);
	next_function += module->functions.length / sizeof(struct atomsan_function);
	if (unlikely(unmet_on) && declares_units(module))
		unmet_stop();
	/* Pairs with the load in find(): whoever sees the count sees the tables. */
	__atomic_store_n(&module_count, number + 1, __ATOMIC_RELEASE);
	for (const struct atomsan_function *f = given->functions_begin; f < given->functions_end; f++)
		__atomic_fetch_add(&rt_header->counters[TRACE_COUNT_ASM], f->asm_blocks, __ATOMIC_RELAXED);
	if (unlikely(rt_watching) && module->sites.length)
		watch_module(given->sites_begin, module->sites.length / sizeof(struct atomsan_site),
			     module->sites.first, given->functions_begin,
			     module->functions.length / sizeof(struct atomsan_function));
	if (rt_recording) {
		write_module(number);
		rt_op_value(TRACE_OP_MODULE, 0, NULL, number, NULL);
	}
out:
	leave();
}

EXPORT void __atomsan_module_unregister(struct atomsan_module *given)
{
	/* The executable's tables stay: code may run in it to the very end. */
	if (is_same(&modules[0], given))
		return;
	enter();
	for (uint32_t i = 0; i < module_count; i++)
		if (is_same(&modules[i], given))
			modules[i].sites.length = modules[i].functions.length = modules[i].variables.length =
				0;
	leave();
}

void rt_module_executable(void)
{
	struct atomsan_module executable = {
		.abi_version = ATOMSAN_ABI_VERSION,
		.sites_begin = __start_atomsan_sites,
		.sites_end = __stop_atomsan_sites,
		.functions_begin = __start_atomsan_fns,
		.functions_end = __stop_atomsan_fns,
		.strings_begin = __start_atomsan_str,
		.strings_end = __stop_atomsan_str,
		.variables_begin = __start_atomsan_vars,
		.variables_end = __stop_atomsan_vars,
		.spec_begin = __start_atomsan_spec,
		.spec_end = __stop_atomsan_spec,
	};

	__atomsan_module_register(&executable);
	rt_numbers = (struct rt_numbers){
		.sites_bias = modules[0].sites.begin - sizeof(struct atomsan_site),
		/* With values no access is the usual one. */
		.sites_limit = rt_options.values          ? 0
			       : next_site < TRACE_ID_MAX ? next_site
							  : TRACE_ID_MAX,
		.functions_bias = modules[0].functions.begin - sizeof(struct atomsan_function),
		.functions_limit = next_function < TRACE_ID_MAX ? next_function : TRACE_ID_MAX,
	};
}

/* libc and its like are known by their functions; others are blind spots. */
static bool part_of_libc(const char *path)
{
	static const char *const names[] = {"linux-vdso", "ld-linux",  "libc.so",      "libm.so",
					    "libpthread", "libdl.so",  "librt.so",     "libstdc++",
					    "libgcc_s",   "libatomic", "libresolv.so", NULL};
	const char *name = path;

	for (const char *p = path; *p; p++)
		if (*p == '/')
			name = p + 1;
	for (const char *const *known = names; *known; known++) {
		unsigned i = 0;

		while ((*known)[i] && (*known)[i] == name[i])
			i++;
		if (!(*known)[i])
			return true;
	}
	return false;
}

static int count_unseen(struct dl_phdr_info *info, size_t size, void *argument)
{
	uint64_t *unseen = argument;
	bool ours = false;

	if (!info->dlpi_name || !*info->dlpi_name)
		return 0;
	for (uint32_t m = 0; m < module_count; m++)
		for (int i = 0; i < info->dlpi_phnum; i++)
			ours |= info->dlpi_phdr[i].p_type == PT_LOAD &&
				modules[m].sites.begin - (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr) <
					info->dlpi_phdr[i].p_memsz;
	*unseen += !ours && !part_of_libc(info->dlpi_name);
	return 0;
}

void rt_module_count_unseen(void)
{
	uint64_t unseen = 0;

	rt_self.inside++;
	dl_iterate_phdr(count_unseen, &unseen);
	rt_self.inside--;
	rt_header->counters[TRACE_COUNT_UNINSTRUMENTED] = unseen;
}
