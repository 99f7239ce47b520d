/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files, sockets and streams: buffers that the kernel or stdio fills or empties. */
#include "rt/libc.h"
#include "rt/scheduler.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

ssize_t __read_chk(int file, void *to, size_t length, size_t room);
ssize_t __pread_chk(int file, void *to, size_t length, off_t offset, size_t room);
ssize_t __pread64_chk(int file, void *to, size_t length, off64_t offset, size_t room);
ssize_t __recv_chk(int file, void *to, size_t length, size_t room, int flags);
ssize_t __recvfrom_chk(int file, void *to, size_t length, size_t room, int flags, struct sockaddr *from,
		       socklen_t *from_length);
char *__fgets_chk(char *to, size_t room, int length, FILE *stream);
size_t __fread_chk(void *to, size_t room, size_t size, size_t count, FILE *stream);
ssize_t __getdelim(char **line, size_t *room, int end, FILE *stream);

static ssize_t filled(const void *to, ssize_t got, const struct atomsan_site *site)
{
	if (got > 0)
		wrote(to, (size_t)got, site);
	return got;
}

WRAPPER(ssize_t, read, (int file, void *to, size_t length))
{
	const struct atomsan_site *site = rt_take_site();

	return filled(to, SCHED_IO(file, false, read(file, to, length)), site);
}

WRAPPER(ssize_t, __read_chk, (int file, void *to, size_t length, size_t room))
{
	const struct atomsan_site *site = rt_take_site();

	return filled(to, SCHED_IO(file, false, __read_chk(file, to, length, room)), site);
}

#define PREAD(name, type)                                                        \
	WRAPPER(ssize_t, name, (int file, void *to, size_t length, type offset)) \
	{                                                                        \
		const struct atomsan_site *site = rt_take_site();                \
                                                                                 \
		return filled(to, name(file, to, length, offset), site);         \
	}
PREAD(pread, off_t)
PREAD(pread64, off64_t)

#define PREAD_CHK(name, type)                                                                 \
	WRAPPER(ssize_t, name, (int file, void *to, size_t length, type offset, size_t room)) \
	{                                                                                     \
		const struct atomsan_site *site = rt_take_site();                             \
                                                                                              \
		return filled(to, name(file, to, length, offset, room), site);                \
	}
PREAD_CHK(__pread_chk, off_t)
PREAD_CHK(__pread64_chk, off64_t)

/* Whoever is at the other end may go on before the call returns. */
WRAPPER(ssize_t, write, (int file, const void *from, size_t length))
{
	reads(from, length, rt_take_site());
	return SCHED_IO(file, true, write(file, from, length));
}

WRAPPER(ssize_t, pwrite, (int file, const void *from, size_t length, off_t offset))
{
	reads(from, length, rt_take_site());
	return pwrite(file, from, length, offset);
}

WRAPPER(ssize_t, pwrite64, (int file, const void *from, size_t length, off64_t offset))
{
	reads(from, length, rt_take_site());
	return pwrite64(file, from, length, offset);
}

static void vector_filled(const struct iovec *parts, size_t count, ssize_t got,
			  const struct atomsan_site *site)
{
	size_t left = got > 0 ? (size_t)got : 0;

	for (size_t i = 0; i < count && left; i++) {
		size_t length = parts[i].iov_len < left ? parts[i].iov_len : left;

		wrote(parts[i].iov_base, length, site);
		left -= length;
	}
}

static void vector_read(const struct iovec *parts, size_t count, const struct atomsan_site *site)
{
	for (size_t i = 0; i < count; i++)
		reads(parts[i].iov_base, parts[i].iov_len, site);
}

WRAPPER(ssize_t, readv, (int file, const struct iovec *parts, int count))
{
	const struct atomsan_site *site = rt_take_site();
	ssize_t got;

	if (count > 0)
		reads(parts, (size_t)count * sizeof(*parts), site);
	got = SCHED_IO(file, false, readv(file, parts, count));
	vector_filled(parts, count > 0 ? (size_t)count : 0, got, site);
	return got;
}

WRAPPER(ssize_t, writev, (int file, const struct iovec *parts, int count))
{
	const struct atomsan_site *site = rt_take_site();

	if (count > 0) {
		reads(parts, (size_t)count * sizeof(*parts), site);
		vector_read(parts, (size_t)count, site);
	}
	return SCHED_IO(file, true, writev(file, parts, count));
}

WRAPPER(ssize_t, recv, (int file, void *to, size_t length, int flags))
{
	const struct atomsan_site *site = rt_take_site();

	return filled(to, SCHED_SOCKET(file, false, flags, recv(file, to, length, flags)), site);
}

WRAPPER(ssize_t, __recv_chk, (int file, void *to, size_t length, size_t room, int flags))
{
	const struct atomsan_site *site = rt_take_site();

	return filled(to, SCHED_SOCKET(file, false, flags, __recv_chk(file, to, length, room, flags)), site);
}

/* With MSG_TRUNC in the flags the result is the packet's length, not the buffer's. */
static ssize_t received(const void *to, size_t length, ssize_t got, const struct sockaddr *from,
			const socklen_t *from_length, socklen_t room, const struct atomsan_site *site)
{
	filled(to, got > (ssize_t)length ? (ssize_t)length : got, site);
	if (got >= 0 && from && from_length) {
		wrote(from, *from_length < room ? *from_length : room, site);
		wrote(from_length, sizeof(*from_length), site);
	}
	return got;
}

WRAPPER(ssize_t, recvfrom,
	(int file, void *to, size_t length, int flags, struct sockaddr *from, socklen_t *from_length))
{
	const struct atomsan_site *site = rt_take_site();
	socklen_t room = from && from_length ? *from_length : 0;
	ssize_t got = SCHED_SOCKET(file, false, flags, recvfrom(file, to, length, flags, from, from_length));

	return received(to, length, got, from, from_length, room, site);
}

WRAPPER(ssize_t, __recvfrom_chk,
	(int file, void *to, size_t length, size_t buffer, int flags, struct sockaddr *from,
	 socklen_t *from_length))
{
	const struct atomsan_site *site = rt_take_site();
	socklen_t room = from && from_length ? *from_length : 0;
	ssize_t got = SCHED_SOCKET(file, false, flags,
				   __recvfrom_chk(file, to, length, buffer, flags, from, from_length));

	return received(to, length, got, from, from_length, room, site);
}

WRAPPER(ssize_t, recvmsg, (int file, struct msghdr *message, int flags))
{
	const struct atomsan_site *site = rt_take_site();
	socklen_t name_room = message->msg_namelen;
	ssize_t got;

	reads(message, sizeof(*message), site);
	reads(message->msg_iov, message->msg_iovlen * sizeof(*message->msg_iov), site);
	got = SCHED_SOCKET(file, false, flags, recvmsg(file, message, flags));
	if (got >= 0) {
		vector_filled(message->msg_iov, message->msg_iovlen, got, site);
		if (message->msg_name)
			wrote(message->msg_name,
			      message->msg_namelen < name_room ? message->msg_namelen : name_room, site);
		wrote(message->msg_control, message->msg_controllen, site);
		wrote(message, sizeof(*message), site);
	}
	return got;
}

WRAPPER(ssize_t, send, (int file, const void *from, size_t length, int flags))
{
	reads(from, length, rt_take_site());
	return SCHED_SOCKET(file, true, flags, send(file, from, length, flags));
}

WRAPPER(ssize_t, sendto,
	(int file, const void *from, size_t length, int flags, const struct sockaddr *to,
	 socklen_t to_length))
{
	const struct atomsan_site *site = rt_take_site();

	reads(from, length, site);
	if (to)
		reads(to, to_length, site);
	return SCHED_SOCKET(file, true, flags, sendto(file, from, length, flags, to, to_length));
}

WRAPPER(ssize_t, sendmsg, (int file, const struct msghdr *message, int flags))
{
	const struct atomsan_site *site = rt_take_site();

	reads(message, sizeof(*message), site);
	reads(message->msg_iov, message->msg_iovlen * sizeof(*message->msg_iov), site);
	vector_read(message->msg_iov, message->msg_iovlen, site);
	if (message->msg_name)
		reads(message->msg_name, message->msg_namelen, site);
	if (message->msg_control)
		reads(message->msg_control, message->msg_controllen, site);
	return SCHED_SOCKET(file, true, flags, sendmsg(file, message, flags));
}

/* What a stream's lock guards is read under it. */
static void stream_reads(const void *p, size_t length, const struct atomsan_site *site)
{
	watch_self.streams++;
	reads(p, length, site);
	watch_self.streams--;
}

static void stream_reads_text(const char *text, const struct atomsan_site *site)
{
	watch_self.streams++;
	reads_text(text, site);
	watch_self.streams--;
}

WRAPPER(int, puts, (const char *text))
{
	stream_reads_text(text, rt_take_site());
	return puts(text);
}

WRAPPER(int, fputs, (const char *text, FILE *stream))
{
	stream_reads_text(text, rt_take_site());
	return fputs(text, stream);
}

WRAPPER(size_t, fwrite, (const void *from, size_t size, size_t count, FILE *stream))
{
	stream_reads(from, size * count, rt_take_site());
	return fwrite(from, size, count, stream);
}

/* Of an element that came in part only the whole ones before it are counted. */
WRAPPER(size_t, fread, (void *to, size_t size, size_t count, FILE *stream))
{
	const struct atomsan_site *site = rt_take_site();
	size_t got = fread(to, size, count, stream);

	wrote(to, got * size, site);
	return got;
}

WRAPPER(size_t, __fread_chk, (void *to, size_t room, size_t size, size_t count, FILE *stream))
{
	const struct atomsan_site *site = rt_take_site();
	size_t got = __fread_chk(to, room, size, count, stream);

	wrote(to, got * size, site);
	return got;
}

/* A line may hold NULs of its own, behind which its end is not to be seen. */
static char *line_read(char *line, const struct atomsan_site *site)
{
	if (line && watch_or_record())
		wrote(line, strlen(line) + 1, site);
	return line;
}

WRAPPER(char *, fgets, (char *to, int length, FILE *stream))
{
	const struct atomsan_site *site = rt_take_site();

	return line_read(fgets(to, length, stream), site);
}

WRAPPER(char *, __fgets_chk, (char *to, size_t room, int length, FILE *stream))
{
	const struct atomsan_site *site = rt_take_site();

	return line_read(__fgets_chk(to, room, length, stream), site);
}

static ssize_t line_grown(char **line, size_t *room, ssize_t got, const struct atomsan_site *site)
{
	reads(line, sizeof(*line), site);
	reads(room, sizeof(*room), site);
	if (got >= 0) {
		wrote(line, sizeof(*line), site);
		wrote(room, sizeof(*room), site);
		wrote(*line, (size_t)got + 1, site);
	}
	return got;
}

WRAPPER(ssize_t, getline, (char **line, size_t *room, FILE *stream))
{
	const struct atomsan_site *site = rt_take_site();

	return line_grown(line, room, getline(line, room, stream), site);
}

WRAPPER(ssize_t, getdelim, (char **line, size_t *room, int end, FILE *stream))
{
	const struct atomsan_site *site = rt_take_site();

	return line_grown(line, room, getdelim(line, room, end, stream), site);
}

/* What stdio.h turns getline into in optimised programs. */
WRAPPER(ssize_t, __getdelim, (char **line, size_t *room, int end, FILE *stream))
{
	const struct atomsan_site *site = rt_take_site();

	return line_grown(line, room, __getdelim(line, room, end, stream), site);
}
