/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "elf/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int image_open(struct image *image, const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *bytes = NULL;

	if (fd < 0 || fstat(fd, &status)) {
		err_set(err, "cannot read '%s': %s", path, strerror(errno));
		goto failed;
	}
	if (!S_ISREG(status.st_mode)) {
		err_set(err, "'%s' is not a regular file", path);
		goto failed;
	}
	if (status.st_size) {
		/* Writable, since libelf may convert in place; private, so the file stays as it is. */
		bytes = mmap(NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
		if (bytes == MAP_FAILED) {
			err_set(err, "cannot map '%s': %s", path, strerror(errno));
			goto failed;
		}
	}
	close(fd);
	*image = (struct image){mem_text(path), bytes, status.st_size};
	return 0;
failed:
	if (fd >= 0)
		close(fd);
	return -1;
}

void image_release(struct image *image)
{
	if (image->bytes)
		munmap(image->bytes, image->size);
	free(image->path);
	*image = (struct image){0};
}

enum image_kind image_kind(const unsigned char *bytes, size_t size)
{
	if (size >= 4 && !memcmp(bytes, "\177ELF", 4))
		return IMAGE_ELF;
	if (size >= 8 && (!memcmp(bytes, "!<arch>\n", 8) || !memcmp(bytes, "!<thin>\n", 8)))
		return IMAGE_ARCHIVE;
	/* Bare, or in the wrapper that some targets want around it. */
	if (size >= 4 && (!memcmp(bytes, "BC\300\336", 4) || !memcmp(bytes, "\336\300\027\013", 4)))
		return IMAGE_BITCODE;
	return IMAGE_OTHER;
}
