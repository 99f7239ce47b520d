/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A file in memory: whole, private to us, and unchanged while we hold it as far
 * as the kernel can promise. An image's bytes may lie anywhere, also inside an
 * archive, so nothing is known of their alignment.
 */
#ifndef ATOMSAN_ELF_IMAGE_H
#define ATOMSAN_ELF_IMAGE_H

#include <stddef.h>

#include "base/err.h"

struct image {
	char *path;
	unsigned char *bytes;
	size_t size;
};

enum image_kind {
	IMAGE_OTHER,
	IMAGE_ELF,
	IMAGE_ARCHIVE, /* thin ones too */
	IMAGE_BITCODE, /* what -flto leaves in place of an object file */
};

/* Returns -1 with err set. Release it after success. */
int image_open(struct image *image, const char *path, struct err *err);
void image_release(struct image *image);
enum image_kind image_kind(const unsigned char *bytes, size_t size);

#endif
