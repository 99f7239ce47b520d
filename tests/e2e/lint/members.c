/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A struct that one file defines and another changes: its members are told apart
 * there, too. The size is never changed once threads run, so grow() may read it and
 * use it later; the limit is changed by the other file, so shrink() may not. Nor may
 * louder(): where the other file writes the first member, nothing but what the
 * first file knows tells that it is no other one.
 *
 * build: FOLDER/members_other.c
 * expect: shrink stale-value settings.limit
 * expect: louder stale-value settings.verbose
 */
#include "members.h"

#include <stddef.h>

struct settings settings = {0, 10, 100, 0};
pthread_mutex_t settings_lock = PTHREAD_MUTEX_INITIALIZER;
static long rest;

static long size(void)
{
	long n;

	pthread_mutex_lock(&settings_lock);
	n = settings.size;
	pthread_mutex_unlock(&settings_lock);
	return n;
}

static long limit(void)
{
	long n;

	pthread_mutex_lock(&settings_lock);
	n = settings.limit;
	pthread_mutex_unlock(&settings_lock);
	return n;
}

static long verbose(void)
{
	long n;

	pthread_mutex_lock(&settings_lock);
	n = settings.verbose;
	pthread_mutex_unlock(&settings_lock);
	return n;
}

static void louder(void)
{
	long n = verbose();

	pthread_mutex_lock(&settings_lock);
	settings.verbose = n + 1;
	pthread_mutex_unlock(&settings_lock);
}

static void grow(void)
{
	long n = size();

	pthread_mutex_lock(&settings_lock);
	settings.room = n;
	pthread_mutex_unlock(&settings_lock);
}

static void shrink(void)
{
	long n = limit();

	pthread_mutex_lock(&settings_lock);
	settings.limit = n / 2;
	rest = settings.verbose + settings.room;
	pthread_mutex_unlock(&settings_lock);
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, other, NULL);
	for (int i = 0; i < 10; i++) {
		grow();
		shrink();
		louder();
	}
	pthread_join(thread, NULL);
	return rest == 1;
}
