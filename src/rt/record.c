/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where recordings begin and end: the trace's name and header, what is said of
 * the process in front of all events, the checker that is to read along, and
 * what becomes of all that in a forked child.
 */
#include "rt/file.h"
#include "rt/follow.h"
#include "rt/order.h"
#include "rt/rt.h"
#include "rt/shadow.h"
#include "rt/sys.h"
#include "rt/unmet.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

bool rt_recording;

static struct trace_header stand_in;
struct trace_header *rt_header = &stand_in;

/* What a forked child's own trace begins with; the program may change its copies. */
static int saved_argc;
static char **saved_argv, **saved_envp;

static uint64_t text_length(const char *text)
{
	uint64_t n = 0;

	while (text[n])
		n++;
	return n;
}

static void meta_text(enum trace_meta kind, const char *text)
{
	struct rt_piece piece = {text, text_length(text)};

	rt_file_meta(kind, &piece, 1);
}

/* argv or environ: the strings with their NULs, through a buffer of pieces. */
static void meta_list(enum trace_meta kind, char **list, int count)
{
	enum { MOST = 512 };
	static struct rt_piece pieces[MOST];
	int n = 0;

	for (; n < count && n < MOST && list[n]; n++)
		pieces[n] = (struct rt_piece){list[n], text_length(list[n]) + 1};
	rt_file_meta(kind, pieces, n);
}

/* Upper address bits by what is mapped right now; false if two regions fold onto each other. */
static bool find_regions(uint64_t *regions)
{
	char buffer[8192];
	uint64_t address = 0;
	bool known[16] = {false}, begin = true;
	long fd = sys3(open, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0), n;

	/* Where Linux puts things, for what is mapped later or if /proc is not there. */
	for (unsigned i = 0; i < 16; i++)
		regions[i] = i < 2 ? 0 : i < 8 ? 5 : 7;
	if (sys_failed(fd))
		return true;
	while ((n = sys3(read, fd, buffer, sizeof buffer)) > 0) {
		for (long i = 0; i < n; i++) {
			char c = buffer[i];

			if (c == '\n') {
				begin = true;
				address = 0;
			} else if (begin && c == '-') {
				unsigned at = address >> 40 & 15;

				begin = false;
				/* Our own shadow, and the kernel's page, are not the program's. */
				if ((address >= SHADOW_BEGIN && address < SHADOW_END) || address >> 47)
					continue;
				if (known[at] && regions[at] != address >> TRACE_ADDRESS_BITS) {
					sys1(close, fd);
					return false;
				}
				known[at] = true;
				regions[at] = address >> TRACE_ADDRESS_BITS;
			} else if (begin) {
				address = address << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
			}
		}
	}
	sys1(close, fd);
	return true;
}

bool rt_record_regions_apart(void)
{
	uint64_t regions[16];

	return find_regions(regions);
}

static uint64_t now(void)
{
	struct timespec t = {0, 0};

	sys2(clock_gettime, CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static bool starts_with(const char *text, const char *begin)
{
	while (*begin && *text == *begin) {
		text++;
		begin++;
	}
	return !*begin;
}

/* A child's or an exec'ed program's trace must not overwrite ours. */
static long create(const char *pattern)
{
	char wanted[900];
	long fd;

	rt_path(wanted, sizeof wanted, pattern);
	rt_path(file_path, sizeof file_path, pattern);
	/* Memory of the process that started this one, made to be written to. There is no other for the
	 * program that the first one becomes by exec. */
	if (starts_with(pattern, "/proc/")) {
		fd = sys3(open, file_path, O_RDWR | O_CLOEXEC, 0);
		if (sys_failed(fd) || sys3(lseek, fd, 0, SEEK_END) <= 0)
			return fd;
		sys1(close, fd);
		return -EALREADY;
	}
	fd = sys3(open, file_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	for (unsigned n = 0; fd == -EEXIST && n < 100; n++) {
		uint64_t end = text_length(wanted);
		uint64_t numbers[2] = {(uint64_t)sys0(getpid), n};

		for (uint64_t i = 0; i <= end; i++)
			file_path[i] = wanted[i];
		for (int k = 0; k < (n ? 2 : 1); k++) {
			char digits[24];
			unsigned count = 0;

			for (uint64_t v = numbers[k]; v || !count; v /= 10)
				digits[count++] = (char)('0' + v % 10);
			file_path[end++] = '.';
			while (count)
				file_path[end++] = digits[--count];
		}
		file_path[end] = 0;
		fd = sys3(open, file_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	}
	return fd;
}

/* High, so that programs that count on low descriptors find them. */
static int out_of_the_way(int fd)
{
	long high = sys3(fcntl, fd, F_DUPFD_CLOEXEC, 512);

	if (sys_failed(high))
		return fd;
	sys1(close, fd);
	return (int)high;
}

/* Everything of a header but its magic, which goes last. */
static void fill_header(struct trace_header *header)
{
	header->version = TRACE_VERSION;
	header->header_size = sizeof *header;
	header->state = TRACE_RUNNING;
	header->flags = rt_options.filter ? 0 : TRACE_UNFILTERED;
	header->next_page = 1;
	header->next_stamp = 1;
	header->start_time_ns = now();
	header->seed = rt_options.seed;
	header->pid = (uint32_t)sys0(getpid);
	header->parent_pid = (uint32_t)sys0(getppid);
	find_regions(header->regions);
	for (int i = 0; i < TRACE_COUNTER_COUNT; i++)
		header->counters[i] = rt_header->counters[i];
	for (int i = 0; i < 8; i++)
		header->magic[i] = TRACE_MAGIC[i];
}

static void begin_trace(struct trace_header *header, int argc, char **argv, char **envp)
{
	char cwd[4096];
	int variables = 0;

	fill_header(header);
	rt_header = header;
	saved_argc = argc;
	saved_argv = argv;
	saved_envp = envp;
	rt_recording = true;
	meta_list(TRACE_META_ARGV, argv, argc);
	while (envp[variables])
		variables++;
	meta_list(TRACE_META_ENVIRON, envp, variables);
	if (!sys_failed(sys2(getcwd, cwd, sizeof cwd)))
		meta_text(TRACE_META_CWD, cwd);
	meta_text(TRACE_META_OPTIONS, file_path);
	rt_module_write_all();
}

void rt_record_open(const char *pattern, int argc, char **argv, char **envp)
{
	struct trace_header *header;
	long fd = create(pattern);

	if (fd == -EALREADY)
		return;
	if (sys_failed(fd)) {
		rt_say("cannot create the trace %s (error %d); the program runs unrecorded", file_path,
		       (int64_t)-fd);
		return;
	}
	header = file_begin(out_of_the_way((int)fd));
	if (!header) {
		rt_say("cannot map the trace %s; the program runs unrecorded", file_path);
		return;
	}
	begin_trace(header, argc, argv, envp);
	if (rt_options.verbosity)
		rt_say("recording to %s", file_path);
}

void rt_record_nowhere(void)
{
	file_nowhere = true;
	stand_in.next_page = 1;
	stand_in.next_stamp = 1;
	find_regions(stand_in.regions);
	rt_recording = true;
}

/*
 * The checker is started when there is something to be checked: before the
 * second thread, or when the first one has filled all windows. Until then its
 * memory waits in a descriptor, which the program may close, and use the number
 * for something else.
 */
static int waiting = -1;
static uint64_t waiting_inode;
/* The memory was lost, or was a parent's: begin anew when there are threads. */
static bool checker_due;

static bool still_waiting(void)
{
	struct stat memory;

	return waiting >= 0 && !sys_failed(sys2(fstat, waiting, &memory)) && memory.st_ino == waiting_inode;
}

/* For `atomsan run`: this process is looked at, though it may never need a checker. */
static void note_process(bool there)
{
	char path[1024], number[4] = ".0";
	uint64_t n;
	long fd;

	if (!*rt_options.results)
		return;
	rt_path(path, sizeof path - 32, rt_options.results);
	n = text_length(path);
	path[n++] = '/';
	rt_path(path + n, 24, "%p");
	n = text_length(path);
	for (int i = 0; i < 3; i++)
		path[n + (unsigned)i] = number[i];
	if (!there) {
		sys1(unlink, path);
		return;
	}
	fd = sys3(open, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (sys_failed(fd))
		return;
	sys3(write, fd, "0\n", 2);
	sys1(close, fd);
}

static bool start_checker(int memory, int keep)
{
	note_process(false);
	if (checker_start(memory, keep, saved_envp))
		return true;
	rt_recording = false;
	return false;
}

bool rt_record_need_checker(void)
{
	int memory = waiting;
	bool started;

	if (rt_live->alive)
		return true;
	/* Nothing is lost but what a single thread did; see rt_record_before_thread(). */
	if (!still_waiting()) {
		rt_recording = false;
		checker_due = true;
		return false;
	}
	waiting = -1;
	started = start_checker(memory, -1);
	sys1(close, memory);
	return started;
}

void rt_record_for_checker(int argc, char **argv, char **envp)
{
	struct trace_header *header;
	struct stat file_status;
	long keep = -1;
	int memory;

	file_path[0] = 0;
	if (*rt_options.record) {
		keep = create(rt_options.record);
		if (sys_failed(keep)) {
			rt_say("cannot create the trace %s (error %d); it will not be kept", file_path,
			       (int64_t)-keep);
			keep = -1;
		}
	}
	header = follow_map(&memory);
	if (header) {
		begin_trace(header, argc, argv, envp);
		waiting = out_of_the_way(memory);
		waiting_inode = sys_failed(sys2(fstat, waiting, &file_status)) ? 0 : file_status.st_ino;
		note_process(true);
		/* A trace that is to be kept is the checker's to write, from its beginning. */
		if (keep >= 0) {
			start_checker(waiting, (int)keep);
			sys1(close, waiting);
			waiting = -1;
		}
	}
	if (keep >= 0)
		sys1(close, keep);
	if (rt_options.verbosity && rt_recording)
		rt_say("being checked while it runs");
}

int rt_record_finish(int wait_status)
{
	if (!rt_recording)
		return wait_status;
	unmet_count();
	rt_header->exit_status = wait_status;
	__atomic_store_n(&rt_header->state, TRACE_FINISHED, __ATOMIC_RELEASE);
	return checker_verdict(wait_status);
}

void rt_record_aborting(int wait_status)
{
	/* A checker sees the process end, or go on. */
	if (rt_live)
		rt_header->exit_status = wait_status;
	else
		rt_record_finish(wait_status);
}

/* Only the forking thread lives on; all windows are the parent's. The mappings stay, for whoever forked
 * may be a handler that interrupted a writer: what it writes there is lost. */
static void leave_trace(void)
{
	struct trace_header *old = rt_header;

	rt_header = &stand_in;
	order_forget();
	order_forget_atomics();
	if (rt_live) {
		if (still_waiting())
			sys1(close, waiting);
		waiting = -1;
		follow_unmap();
		rt_self.parked_count = 0;
		return;
	}
	file_end(old);
	window_leave_all();
}

static void begin_again(void)
{
	if (rt_options.check)
		rt_record_for_checker(saved_argc, saved_argv, saved_envp);
	else
		rt_record_open(*rt_options.record ? rt_options.record : file_path, saved_argc, saved_argv,
			       saved_envp);
	if (rt_recording)
		rt_thread_begin(rt_thread_number(), RT_NO_THREAD);
}

void rt_record_fork_child(void)
{
	if (!rt_recording)
		return;
	rt_recording = false;
	if (file_nowhere) {
		rt_thread_forget();
		rt_thread_off();
		return;
	}
	leave_trace();
	rt_thread_forget();
	checker_due = rt_options.check && rt_options.follow_fork;
	if (rt_options.follow_fork && !checker_due)
		begin_again();
	else
		rt_thread_off();
}

void rt_record_before_thread(void)
{
	if (rt_recording && rt_live && !rt_live->alive && !still_waiting())
		checker_due = true;
	if (checker_due) {
		checker_due = rt_recording = false;
		if (rt_live) {
			leave_trace();
			rt_thread_forget();
		}
		begin_again();
	}
	if (rt_recording && rt_live && rt_record_need_checker())
		unmet_start();
}
