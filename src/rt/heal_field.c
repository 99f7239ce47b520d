/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Start and end, threads, units and accesses of a program that is healed in the field. */
#include "rt/heal_field.h"
#include "rt/heal_guard.h"
#include "rt/sys.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/single_threaded.h>

struct field_table field_table;
bool heal_on;

/* The linker's bounds of what the pass left. */
extern const struct atomsan_heal_entry __start_atomsan_heal[] __attribute__((weak, visibility("hidden")));
extern const struct atomsan_heal_entry __stop_atomsan_heal[] __attribute__((weak, visibility("hidden")));

enum { SECTIONS = 1024 };
static struct atomsan_heal_section *sections[SECTIONS];
static uint32_t section_count;

__thread struct field_thread field_self = {.serial = 1};

void field_find(void)
{
	int saved = errno;

#define F(result, name, parameters, version) *(void **)&field_table.name = real_find(#name, version);
	REAL_LOCK_FUNCTIONS(F)
	REAL_SLEEP_FUNCTIONS(F)
	REAL_FILE_FUNCTIONS(F)
#undef F
	field_bare_find();
	/* pairs with the load in field_get() */
	__atomic_store_n(&field_table.ready, true, __ATOMIC_RELEASE);
	errno = saved;
}

/* ---- threads ---- */

static uint64_t numbers[HEAL_THREADS / 64];
static pthread_key_t end_key;
static bool have_key;

static void end_thread(void *number)
{
	heal_give_up(false);
	heal_gate_give_all();
	heal_count_all();
	heal_self.number = 0;
	heal_self.apart |= HEAL_NOT_MET;
	heal_self.mine = NULL;
	__atomic_fetch_and(&numbers[(uintptr_t)number / 64], ~(1ull << (uintptr_t)number % 64),
			   __ATOMIC_RELEASE);
}

/* The lowest that nobody has; those beyond are not told apart, and not healed. */
static void begin_thread(void)
{
	for (uint32_t word = 0; word < HEAL_THREADS / 64; word++) {
		uint64_t taken = __atomic_load_n(&numbers[word], __ATOMIC_RELAXED);

		while (~taken) {
			uint32_t bit = (uint32_t)__builtin_ctzll(~taken);

			if (!__atomic_compare_exchange_n(&numbers[word], &taken, taken | 1ull << bit, false,
							 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
				continue;
			heal_thread_is(word * 64 + bit);
			if (have_key)
				pthread_setspecific(end_key, (void *)(uintptr_t)heal_self.number);
			return;
		}
	}
}

/* ---- frames: deeper ones have higher numbers, and the last four bits tell those of one address apart ----
 */

static uint64_t depth_of(const void *address)
{
	return ~(uint64_t)address & ~15ull;
}

static inline uint64_t frame_of(const char *unit)
{
	for (uint32_t i = field_self.count; i--;)
		if (field_self.units[i].name == unit)
			return field_self.units[i].frame;
	return 0;
}

uint64_t heal_frame_of(const struct atomsan_heal_section *section)
{
	return frame_of(section->unit);
}

uint32_t heal_unit_serial(void)
{
	return field_self.serial;
}

struct atomsan_heal_section *heal_next_whole(uint32_t *n, uint64_t *frame)
{
	while (*n < section_count) {
		struct atomsan_heal_section *section = sections[(*n)++];

		if ((*frame = frame_of(section->unit)) && heal_is_whole(section))
			return section;
	}
	return NULL;
}

/* A unit has begun or ended. */
static inline void units_changed(void)
{
	field_self.serial += 2;
	if (heal_use.whole)
		heal_self.apart = (uint8_t)((heal_self.apart & ~HEAL_IN_WHOLE) |
					    (field_self.count ? HEAL_IN_WHOLE : 0));
}

static __attribute__((noinline, cold)) void drop_units(uint64_t depth)
{
	while (field_self.count && field_self.units[field_self.count - 1].frame >= depth)
		field_self.count--;
	units_changed();
	heal_sweep(depth);
}

/* Units that an exception or longjmp has left. */
static inline __attribute__((always_inline)) void sweep(const void *here)
{
	uint64_t depth = depth_of(here) + 16;

	if (heal_unlikely(field_self.count && field_self.units[field_self.count - 1].frame >= depth))
		drop_units(depth);
}

/* ---- for interposers ---- */

bool heal_looks(void)
{
	return heal_self.number && !heal_self.busy;
}

bool field_looks(void)
{
	if (!heal_on || heal_self.busy)
		return false;
	if (heal_unlikely(!heal_self.number)) {
		begin_thread();
		if (!heal_self.number)
			return false;
	}
	heal_self.busy = true;
	sweep(__builtin_frame_address(0));
	if (heal_self.pending)
		heal_done();
	heal_self.busy = false;
	return true;
}

void heal_on_wait(const void *mutex)
{
	if (!field_looks())
		return;
	heal_give_up(true);
	if (mutex)
		heal_lock_released(mutex);
}

bool heal_wait_scheduled(const void *gate, uint64_t until, bool *late)
{
	return false;
}

bool heal_scheduled(void)
{
	return false;
}

void heal_wake_scheduled(const void *gate)
{
}

const struct atomsan_heal_section *heal_nth(uint32_t n)
{
	return n < section_count ? sections[n] : NULL;
}

/* ---- what the pass calls ---- */

/* One thread alone has nobody to wait for. */
static inline __attribute__((always_inline)) bool begin(const void *here)
{
	if (heal_likely(__libc_single_threaded) || heal_unlikely(!heal_on || heal_self.busy))
		return false;
	if (heal_unlikely(!heal_self.number)) {
		begin_thread();
		if (!heal_self.number)
			return false;
	}
	heal_self.busy = true;
	sweep(here);
	return true;
}

/* It has told, and somebody is in the way. */
static __attribute__((noinline, cold)) bool take_back(void)
{
	heal_untell();
	heal_self.pending = false;
	return false;
}

/* An access that can begin nothing and end nothing, of a thread that has nothing under way. */
static inline __attribute__((always_inline)) bool pass(const void *p, uint64_t length,
						       const struct atomsan_heal_place *place)
{
	const struct atomsan_heal_variable *variable = place->variable;

	if (heal_likely(place->flags & ATOMSAN_HEAL_HARMLESS))
		return true;
	if (variable->leader)
		variable = variable->leader;
	/* A lock may be found to guard it, or not to; that has to be looked at. */
	if (place->variable->guard.state != HEAL_GUARD_NONE)
		return heal_guard_held(&place->variable->guard, p, place->kinds == ATOMSAN_HEAL_READ) &&
		       !__atomic_load_n(&variable->gate.word, __ATOMIC_ACQUIRE);
	return heal_likely(heal_tell_fast(&variable->gate, p, (const char *)p + length)) || take_back();
}

static inline bool simple(const struct atomsan_heal_place *place, const char *from, const char *to,
			  unsigned kinds)
{
	const struct atomsan_heal_role *role = heal_simple_role(place, kinds);
	const struct field_unit *unit = &field_self.units[field_self.count - 1];

	if (!role || heal_self.pending)
		return false;
	if (role->what & ATOMSAN_HEAL_END)
		return heal_simple_end(role, from, to);
	if (heal_self.open_count || !(field_self.count || role->what & ATOMSAN_HEAL_LOCAL))
		return false;
	return heal_simple_entry(role, place->variable, from, to, field_self.count ? unit->name : NULL,
				 field_self.count ? unit->frame : 0);
}

static inline bool is_local(const struct atomsan_heal_place *place)
{
	for (uint32_t i = 0; i < place->roles; i++)
		if (place->role[i].what & ATOMSAN_HEAL_LOCAL)
			return true;
	return false;
}

/* In no unit, or in one whose section has not begun and does not here. */
static inline bool only_passes(const struct atomsan_heal_place *place)
{
	return (!field_self.count && !is_local(place)) ||
	       (!heal_self.open_count && place->roles == 1 && place->role->what & ATOMSAN_HEAL_END);
}

EXPORT void __atomsan_heal_before(const void *p, uint64_t length, const struct atomsan_heal_place *place)
{
	unsigned kinds;

	if (heal_likely(__libc_single_threaded) || (heal_self.mine && !heal_self.busy && !heal_self.pending &&
						    only_passes(place) && pass(p, length, place)))
		return;
	if (!begin(__builtin_frame_address(0)))
		return;
	kinds = place->kinds == (ATOMSAN_HEAL_READ | ATOMSAN_HEAL_WRITE) ? ATOMSAN_HEAL_READ : place->kinds;
	if (!simple(place, p, (const char *)p + length, kinds))
		heal_access(place, p, length, kinds);
	heal_self.busy = false;
}

EXPORT void __atomsan_heal_pass(const void *p, uint64_t length, const struct atomsan_heal_place *place)
{
	if (heal_likely(__libc_single_threaded) || (heal_is_free() && pass(p, length, place)))
		return;
	__atomsan_heal_before(p, length, place);
}

EXPORT void __atomsan_heal_store(const void *p, uint64_t length, const struct atomsan_heal_place *place)
{
	if (!begin(__builtin_frame_address(0)))
		return;
	if (!simple(place, p, (const char *)p + length, ATOMSAN_HEAL_WRITE))
		heal_store(place, p, length);
	heal_self.busy = false;
}

EXPORT void __atomsan_heal_atomic(const void *p, uint64_t length, const struct atomsan_heal_place *place)
{
	if (!begin(__builtin_frame_address(0)))
		return;
	heal_access(place, p, length, place->kinds);
	heal_self.busy = false;
}

EXPORT void __atomsan_heal_after(void)
{
	if (!heal_self.pending || heal_unlikely(heal_self.busy))
		return;
	if (heal_likely(!heal_self.open_count)) {
		heal_self.told = false;
		heal_self.under_way &= ~(uint32_t)HEAL_PENDING;
		__atomic_store_n(&heal_self.mine->from, NULL, __ATOMIC_RELEASE);
		return;
	}
	heal_self.busy = true;
	if (!heal_simple_done())
		heal_done();
	heal_self.busy = false;
}

EXPORT void __atomsan_heal_enter(const char *unit)
{
	if (!heal_on || heal_self.busy)
		return;
	sweep(__builtin_frame_address(0));
	if (field_self.count == FIELD_UNITS)
		return;
	field_self.units[field_self.count] =
		(struct field_unit){unit, depth_of(__builtin_frame_address(0)) | (field_self.count & 15)};
	field_self.count++;
	units_changed();
}

/* The first lock of a unit, if it is one, and one of the program's own making. */
EXPORT void __atomsan_heal_line(void)
{
	if (!field_self.count || !heal_use.whole || !begin(__builtin_frame_address(0)))
		return;
	if (heal_self.pending)
		heal_done();
	heal_early();
	heal_self.busy = false;
}

static __attribute__((noinline)) void leave_sections(uint64_t frame)
{
	heal_self.busy = true;
	heal_sweep(frame);
	heal_self.busy = false;
}

EXPORT void __atomsan_heal_leave(void)
{
	uint64_t frame;

	if (!field_self.count || heal_self.busy)
		return;
	frame = field_self.units[field_self.count - 1].frame;
	/* One that found the table full has nothing there to leave. */
	if (frame > (depth_of(__builtin_frame_address(0)) | 15))
		return;
	field_self.count--;
	units_changed();
	if (heal_unlikely(heal_self.open_count))
		leave_sections(frame);
}

/* ---- start and end ---- */

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

static bool same_struct(const char *a, const char *b)
{
	while (*a && *a == *b && *a != '.')
		a++, b++;
	return *a == '.' && *b == '.';
}

static void add(struct atomsan_heal_section *section)
{
	for (uint32_t i = 0; i < section_count; i++)
		if (sections[i] == section)
			return;
	if (section_count == SECTIONS)
		return;
	for (uint32_t i = 0; i < section_count; i++)
		if (sections[i]->unit == section->unit ||
		    same_struct(sections[i]->variable->name, section->variable->name) ||
		    same(sections[i]->variable->name, section->variable->name))
			heal_join(sections[i]->variable, section->variable);
	sections[section_count++] = section;
}

/* So that an access is one step away from its gate. */
static void flatten(struct atomsan_heal_variable *variable)
{
	struct atomsan_heal_variable *leader = heal_leader(variable);

	variable->leader = leader == variable ? NULL : leader;
}

static long process; /* not that of a child that has its parent's memory for a moment */

/* In the field nobody is told who did not ask. */
static void tell(void)
{
	if ((*rt_options.results || *rt_options.log_path || rt_options.verbosity) && sys0(getpid) == process)
		heal_finish();
}

static void at_exit(int status, void *unused)
{
	tell();
}

static void fork_child(void)
{
	process = sys0(getpid);
	heal_forget();
}

/* Children that were forked mostly end so. */
INTERPOSER void _exit(int status)
{
	tell();
	for (;;)
		sys1(exit_group, status);
}

INTERPOSER void _Exit(int status)
{
	_exit(status);
}

static void start(int argc, char **argv, char **envp)
{
	const struct atomsan_heal_entry *entry = __start_atomsan_heal;

	if (entry == __stop_atomsan_heal)
		return;
	/* Said by hand: heal=0 goes without, log_path or verbosity=1 tell what came of it. */
	rt_options.heal = true;
	/* But not by who runs it with somebody else's rights. */
	for (; *envp && !getauxval(AT_SECURE); envp++) {
		const char *name = "ATOMSAN_OPTIONS=", *text = *envp;

		while (*name && *name == *text)
			name++, text++;
		if (!*name)
			rt_options_read(text);
	}
	for (; entry < __stop_atomsan_heal; entry++) {
		add(entry->section);
		heal_join(entry->section->variable, entry->variable);
	}
	for (uint32_t i = 0; i < section_count; i++)
		flatten(sections[i]->variable);
	for (entry = __start_atomsan_heal; entry < __stop_atomsan_heal; entry++)
		flatten(entry->variable);
	heal_settings.timeout = rt_options.heal_timeout * 1000000ull;
	heal_settings.keeps = true;
	heal_barrier_start();
	field_find();
	__atomic_fetch_or(&numbers[0], 1, __ATOMIC_RELAXED);
	have_key = !pthread_key_create(&end_key, end_thread);
	pthread_atfork(NULL, NULL, fork_child);
	process = sys0(getpid);
	on_exit(at_exit, NULL);
	at_quick_exit(tell);
	for (uint32_t i = 0; i < section_count; i++)
		heal_use.whole |= !!(sections[i]->flags & ATOMSAN_HEAL_WHOLE);
	heal_on = rt_options.heal;
}

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(int, char **, char **) = start;
