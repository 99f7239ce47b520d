/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The trace file while the program runs: header and blocks are shared mappings,
 * so the kernel keeps what was written however the process ends. Room on disk
 * is reserved before a window is mapped (a store into a hole of a full disk
 * would be a SIGBUS for the program).
 *
 * Windows are used again instead of mapping the growing file: appending with
 * write costs a fifth of the page faults that fresh mapped pages would.
 */
#include "rt/follow.h"
#include "rt/rt.h"
#include "rt/shadow.h"
#include "rt/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <time.h>

bool rt_recording;

static struct trace_header stand_in;
struct trace_header *rt_header = &stand_in;

static int file = -1;
static char file_path[1024];
static uint64_t size_limit = ~0ull;
static bool nowhere; /* there is no file: events are written and forgotten */
/* What a forked child's own trace begins with; the program may change its copies. */
static int saved_argc;
static char **saved_argv, **saved_envp;

static void stop(const char *why)
{
	bool was = __atomic_exchange_n(&rt_recording, false, __ATOMIC_ACQ_REL);

	if (!was)
		return;
	rt_count(TRACE_COUNT_DROPPED);
	rt_header->state = TRACE_STOPPED;
	if (rt_live)
		rt_say("checking stopped: %s; the program goes on unchecked", why);
	else
		rt_say("recording stopped: %s; the program goes on, %s holds what was seen so far", why,
		       file_path);
}

/* Why the trace may not grow by `length` more bytes, or NULL. */
static const char *no_room(uint64_t length)
{
	static uint32_t asked;
	struct statfs disk;
	uint64_t size = rt_header->next_page * TRACE_PAGE + length;

	if (rt_options.max_size && size > rt_options.max_size << 20)
		return "the trace has reached max_size";
	/* Beyond the limit a write is a signal that kills. */
	if (size > size_limit)
		return "the file size limit (ulimit -f) is reached";
	/* The disk is asked now and then: others fill it, too, but not that fast. */
	if (__atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED) % 16)
		return NULL;
	/* Memory says that it has no blocks at all. */
	if (!sys_failed(sys2(fstatfs, file, &disk)) && disk.f_blocks &&
	    (uint64_t)disk.f_bavail * (uint64_t)disk.f_bsize < (rt_options.keep_free << 20) + length)
		return "the disk is nearly full (keep_free)";
	return NULL;
}

/* Take `length` bytes at the end of the file. 0: recording has stopped. */
static uint64_t reserve(uint64_t length)
{
	const char *why = no_room(length);
	uint64_t offset;
	long failed;

	if (why) {
		stop(why);
		return 0;
	}
	offset =
		__atomic_fetch_add(&rt_header->next_page, length / TRACE_PAGE, __ATOMIC_ACQ_REL) * TRACE_PAGE;
	failed = sys4(fallocate, file, 0, offset, length);
	if (failed == -EOPNOTSUPP || failed == -ENOSYS || failed == -EINTR) {
		/* Writing a zero to each page is what fallocate would have saved. */
		static const char zero[1];

		failed = 0;
		for (uint64_t page = 0; page < length && failed >= 0; page += TRACE_PAGE)
			failed = sys4(pwrite64, file, zero, 1, offset + page + TRACE_PAGE - 1);
	}
	if (failed < 0) {
		stop(failed == -ENOSPC  ? "the disk is full"
		     : failed == -EFBIG ? "the file size limit (ulimit -f) is reached"
					: "the trace cannot grow");
		return 0;
	}
	return offset;
}

static bool write_all(const void *bytes, uint64_t length, uint64_t offset)
{
	while (length) {
		long wrote = sys4(pwrite64, file, bytes, length, offset);

		if (wrote == -EINTR)
			continue;
		if (wrote <= 0) {
			stop(wrote == -ENOSPC  ? "the disk is full"
			     : wrote == -EFBIG ? "the file size limit (ulimit -f) is reached"
					       : "the trace cannot be written");
			return false;
		}
		bytes = (const char *)bytes + wrote;
		length -= (uint64_t)wrote;
		offset += (uint64_t)wrote;
	}
	return true;
}

/* In one call, so that whole pages are written; what is left of a short write goes the long way. */
static bool write_block(const struct trace_block *header, const void *payload, uint64_t length,
			uint64_t offset)
{
	struct iovec parts[2] = {{(void *)header, sizeof *header},
				 {(void *)payload, length - sizeof *header}};
	long wrote = sys6(pwritev, file, parts, 2, offset, 0, 0);

	if (wrote == (long)length)
		return true;
	return write_all(payload, length - sizeof *header, offset + sizeof *header) &&
	       write_all(header, sizeof *header, offset);
}

/*
 * Windows. Each is mapped once, at an address with the bit RT_WINDOW clear,
 * and handed from thread to thread; there are as many as threads ever ran at
 * the same time.
 */
static struct trace_block *windows[1 << 14];
static uint32_t windows_used, windows_lock;

static void lock_windows(void)
{
	while (__atomic_exchange_n(&windows_lock, 1, __ATOMIC_ACQUIRE))
		sys0(sched_yield);
}

static void unlock_windows(void)
{
	__atomic_store_n(&windows_lock, 0, __ATOMIC_RELEASE);
}

static struct trace_block *map_window(void)
{
	uint64_t offset = nowhere ? 0 : reserve(RT_WINDOW), at;
	long all;

	if (!offset && !nowhere)
		return NULL;
	/* Room enough to find the right alignment in, and nothing mapped behind. */
	all = sys6(mmap, 0, 4 * RT_WINDOW, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_failed(all)) {
		stop("there is no address space for a buffer");
		return NULL;
	}
	at = ((uint64_t)all + 2 * RT_WINDOW - 1) & ~(2 * RT_WINDOW - 1);
	if (sys_failed(sys6(mmap, at, RT_WINDOW, PROT_READ | PROT_WRITE,
			    (nowhere ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED) | MAP_FIXED, file,
			    offset))) {
		sys2(munmap, all, 4 * RT_WINDOW);
		stop("the trace cannot be mapped");
		return NULL;
	}
	return (struct trace_block *)at;
}

static void begin_window(struct trace_block *window, uint32_t sequence)
{
	window->kind = TRACE_BLOCK_EVENTS;
	window->length = RT_WINDOW;
	window->owner = rt_self.number;
	window->sequence = sequence;
	window->magic = TRACE_BLOCK_MAGIC;
	__atomic_store_n(&window->flags, TRACE_BLOCK_WINDOW, __ATOMIC_RELEASE);
	rt_self.window = window;
	rt_self.next = (uint64_t)(window + 1);
}

static struct trace_block *take_window(void)
{
	struct trace_block *window = NULL;

	lock_windows();
	if (windows_used)
		window = windows[--windows_used];
	unlock_windows();
	return window ? window : map_window();
}

static void clear(void *at, uint64_t length)
{
	__asm__ volatile("rep stosb" : "+D"(at), "+c"(length) : "a"(0) : "memory");
}

/* Append the window's content as a block, and clear it. */
static bool append_window(struct trace_block *window, uint64_t used)
{
	uint64_t length = (used + TRACE_PAGE - 1) / TRACE_PAGE * TRACE_PAGE;
	struct trace_block header = *window;
	uint64_t offset, *words = (uint64_t *)(window + 1);
	uint64_t count = (used - sizeof header) / 8;
	const char *why;

	if (nowhere)
		return true;
	why = no_room(length);
	if (why) {
		stop(why);
		return false;
	}
	/* What stands behind an event that a handler left for good, by longjmp, must not be cut off. */
	if (rt_self.handlers || rt_self.parked_count)
		for (uint64_t i = 0; i < count; i++)
			if (!words[i])
				words[i] = (uint64_t)TRACE_EXIT;
	offset =
		__atomic_fetch_add(&rt_header->next_page, length / TRACE_PAGE, __ATOMIC_ACQ_REL) * TRACE_PAGE;
	header.flags = 0;
	header.length = (uint32_t)length;
	if (!write_block(&header, words, length, offset))
		return false;
	__atomic_store_n(&window->flags, TRACE_BLOCK_WINDOW | TRACE_BLOCK_FLUSHED, __ATOMIC_RELEASE);
	clear(words, used - sizeof header);
	__asm__ volatile("" ::: "memory");
	return true;
}

static uint64_t block_signals(void)
{
	uint64_t all = ~0ull, before = 0;

	sys4(rt_sigprocmask, 0 /* SIG_BLOCK */, &all, &before, 8);
	return before;
}

static void unblock_signals(uint64_t before)
{
	sys4(rt_sigprocmask, 2 /* SIG_SETMASK */, &before, 0, 8);
}

static void give_window(struct trace_block *window)
{
	lock_windows();
	if (windows_used < sizeof windows / sizeof *windows)
		windows[windows_used++] = window;
	unlock_windows();
}

static bool append_parked(void)
{
	for (; rt_self.parked_count; rt_self.parked_count--) {
		struct trace_block *window = rt_self.parked[rt_self.parked_count - 1];

		if (!append_window(window, RT_WINDOW))
			return false;
		give_window(window);
	}
	return true;
}

/* As rt_file_make_room(). */
static bool make_room_live(void)
{
	if (follow_make_room())
		return true;
	if (!follow_checker_gone())
		rt_count(TRACE_COUNT_DROPPED); /* more threads than windows: this one goes without */
	else if (__atomic_load_n(&rt_live->done, __ATOMIC_ACQUIRE))
		rt_recording = false; /* the program has had its verdict and is about to end */
	else
		stop("the checker is gone");
	return false;
}

bool rt_file_make_room(void) ATOMSAN_KEEPS_REGISTERS
{
	/* A handler must not find the thread between two windows. */
	uint64_t before = block_signals();
	struct trace_block *window = rt_self.window;
	bool done = false;

	if (window && !(rt_self.next & RT_WINDOW)) {
		done = true; /* a handler came first */
	} else if (!rt_recording) {
	} else if (rt_live) {
		done = make_room_live();
	} else if (!window) {
		window = take_window();
		if (window)
			begin_window(window, 0);
		done = window != NULL;
	} else if (rt_self.handlers && rt_self.parked_count < RT_PARKED) {
		struct trace_block *other = take_window();

		if (other) {
			rt_self.parked[rt_self.parked_count++] = window;
			begin_window(other, window->sequence + 1);
			done = true;
		}
	} else if (append_parked() && append_window(window, RT_WINDOW)) {
		begin_window(window, window->sequence + 1);
		done = true;
	}
	unblock_signals(before);
	if (!done)
		rt_thread_off();
	return done;
}

void rt_file_close_window(void)
{
	uint64_t before = block_signals();
	struct trace_block *window = rt_self.window;
	uint64_t used = rt_self.next & RT_WINDOW ? RT_WINDOW : rt_self.next - (uint64_t)window;

	if (rt_live)
		follow_close_window();
	else if (window && rt_recording && append_parked() && append_window(window, used))
		give_window(window);
	rt_self.window = NULL;
	rt_self.next = RT_WINDOW;
	unblock_signals(before);
}

void rt_file_meta(enum trace_meta kind, const struct rt_piece *pieces, int count)
{
	static uint32_t items[16];
	uint32_t item = __atomic_fetch_add(&items[kind], 1, __ATOMIC_RELAXED);
	uint64_t left = 0, at = 0;
	int piece = 0;

	if (rt_live) {
		follow_meta(kind, item, pieces, count);
		return;
	}
	if (nowhere)
		return;
	for (int i = 0; i < count; i++)
		left += pieces[i].length;
	for (uint32_t sequence = 0; left || !sequence; sequence++) {
		struct trace_block header = {.magic = TRACE_BLOCK_MAGIC,
					     .kind = TRACE_BLOCK_META,
					     .owner = kind,
					     .sequence = sequence,
					     .item = item};
		uint64_t most = TRACE_MAX_BLOCK - sizeof header, payload = left < most ? left : most;
		uint64_t length = (payload + sizeof header + TRACE_PAGE - 1) / TRACE_PAGE * TRACE_PAGE;
		uint64_t offset = reserve(length), to = offset + sizeof header;

		if (!offset)
			return;
		header.length = (uint32_t)length;
		header.payload = (uint32_t)payload;
		left -= payload;
		while (payload) {
			uint64_t n = pieces[piece].length - at;

			if (n > payload)
				n = payload;
			if (!write_all((const char *)pieces[piece].bytes + at, n, to))
				return;
			payload -= n;
			to += n;
			at += n;
			if (at == pieces[piece].length) {
				piece++;
				at = 0;
			}
		}
		if (!write_all(&header, sizeof header, offset))
			return;
	}
}

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
				if ((address >= SHADOW_CELLS && address < SHADOW_END) || address >> 47)
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
	/* Memory of the process that started this one, made to be written to. There is no other for the program
	 * that the first one becomes by exec. */
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
	struct rlimit limit;
	long fd = create(pattern);

	if (fd == -EALREADY)
		return;
	if (sys_failed(fd)) {
		rt_say("cannot create the trace %s (error %d); the program runs unrecorded", file_path,
		       (int64_t)-fd);
		return;
	}
	file = out_of_the_way((int)fd);
	if (!sys_failed(sys4(prlimit64, 0, RLIMIT_FSIZE, 0, &limit)))
		size_limit = limit.rlim_cur;
	if (sys_failed(sys4(fallocate, file, 0, 0, TRACE_PAGE)))
		sys2(ftruncate, file, TRACE_PAGE);
	header =
		(struct trace_header *)sys6(mmap, 0, TRACE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (sys_failed(header)) {
		rt_say("cannot map the trace %s; the program runs unrecorded", file_path);
		sys1(close, file);
		file = -1;
		return;
	}
	begin_trace(header, argc, argv, envp);
	if (rt_options.verbosity)
		rt_say("recording to %s", file_path);
}

void rt_record_nowhere(void)
{
	nowhere = true;
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

static void leave_window(struct trace_block *window)
{
	sys6(mmap, window, RT_WINDOW, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/* Only the forking thread lives on; all windows are the parent's. The mappings stay, for whoever forked
 * may be a handler that interrupted a writer: what it writes there is lost. */
static void leave_trace(void)
{
	struct trace_header *old = rt_header;

	rt_header = &stand_in;
	if (rt_live) {
		if (still_waiting())
			sys1(close, waiting);
		waiting = -1;
		follow_unmap();
		rt_self.parked_count = 0;
		return;
	}
	sys2(munmap, old, TRACE_PAGE);
	sys1(close, file);
	file = -1;
	if (rt_self.window)
		leave_window(rt_self.window);
	for (; rt_self.parked_count; rt_self.parked_count--)
		leave_window(rt_self.parked[rt_self.parked_count - 1]);
	windows_used = windows_lock = 0;
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
	if (nowhere) {
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
	if (rt_recording && rt_live)
		rt_record_need_checker();
}
