/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A block compressor of the LZ77 family with hash chains. Workers fetch blocks
 * from a shared list, compress them and hand them in; afterwards every block
 * is unpacked again and compared. A packed block is a sequence of
 *
 *   literals (1 byte), match length (1 byte), distance (2 bytes), the literals
 *
 * where a match of length 0 has no distance. -n: kilobytes of input.
 */
#include "common.h"

enum {
	BLOCK = 32 << 10,
	HASH_BITS = 13,
	MIN_MATCH = 4,
	MAX_MATCH = 255,
	MAX_LITERALS = 255,
	MAX_CHAIN = 24,
	WORDS = 2048,
};

struct block {
	const uint8_t *input;
	size_t input_size;
	uint8_t *output;
	size_t output_size;
	uint32_t checksum; /* of the input */
	long matches;
	long literals;
};

struct jobs {
	pthread_mutex_t lock;
	struct block *blocks;
	size_t count;
	size_t next;    /* under lock */
	size_t done;    /* under lock */
	uint64_t bytes; /* packed so far, under lock */
};

/* Positions that begin with the same bytes, newest first; one per worker. */
struct matcher {
	int32_t head[1 << HASH_BITS];
	int32_t previous[BLOCK];
};

struct match {
	size_t length;
	size_t distance;
};

struct writer {
	uint8_t *at;
	const uint8_t *literals;
	size_t literal_count;
};

static uint32_t checksum(const uint8_t *p, size_t size)
{
	uint32_t a = 1, b = 0;

	for (size_t i = 0; i < size; i++) {
		a = (a + p[i]) % 65521;
		b = (b + a) % 65521;
	}
	return b << 16 | a;
}

static uint32_t hash_at(const uint8_t *p)
{
	uint32_t word;

	memcpy(&word, p, sizeof(word));
	return word * 2654435761u >> (32 - HASH_BITS);
}

static void matcher_insert(struct matcher *m, const uint8_t *input, size_t at)
{
	uint32_t h = hash_at(input + at);

	m->previous[at] = m->head[h];
	m->head[h] = (int32_t)at;
}

static struct match matcher_find(const struct matcher *m, const struct block *block, size_t at)
{
	const uint8_t *input = block->input;
	size_t limit = block->input_size - at < MAX_MATCH ? block->input_size - at : MAX_MATCH;
	struct match best = {0, 0};
	int32_t candidate = m->head[hash_at(input + at)];

	for (int steps = 0; candidate >= 0 && steps < MAX_CHAIN; steps++) {
		size_t length = 0;

		if (!best.length || input[candidate + best.length] == input[at + best.length])
			while (length < limit && input[candidate + length] == input[at + length])
				length++;
		if (length > best.length) {
			best.length = length;
			best.distance = at - candidate;
			if (length == limit)
				break;
		}
		candidate = m->previous[candidate];
	}
	if (best.length < MIN_MATCH)
		best.length = 0;
	return best;
}

static void writer_flush(struct writer *w, struct match match)
{
	*w->at++ = (uint8_t)w->literal_count;
	*w->at++ = (uint8_t)match.length;
	if (match.length) {
		*w->at++ = (uint8_t)match.distance;
		*w->at++ = (uint8_t)(match.distance >> 8);
	}
	memcpy(w->at, w->literals, w->literal_count);
	w->at += w->literal_count;
	w->literals += w->literal_count + match.length;
	w->literal_count = 0;
}

static void block_compress(struct block *block, struct matcher *matcher)
{
	size_t at = 0;
	struct writer writer;

	memset(matcher->head, 0xff, sizeof(matcher->head));
	block->output = must_alloc(1, block->input_size + block->input_size / 64 + 16);
	block->checksum = checksum(block->input, block->input_size);
	writer = (struct writer){block->output, block->input, 0};
	while (at < block->input_size) {
		struct match match = {0, 0};

		REQUEST(160);
		if (at + MIN_MATCH <= block->input_size)
			match = matcher_find(matcher, block, at);
		if (!match.length) {
			if (at + MIN_MATCH <= block->input_size)
				matcher_insert(matcher, block->input, at);
			block->literals++;
			at++;
			if (++writer.literal_count == MAX_LITERALS)
				writer_flush(&writer, match);
			continue;
		}
		block->matches++;
		writer_flush(&writer, match);
		for (size_t end = at + match.length; at < end; at++)
			if (at + MIN_MATCH <= block->input_size)
				matcher_insert(matcher, block->input, at);
	}
	if (writer.literal_count)
		writer_flush(&writer, (struct match){0, 0});
	block->output_size = writer.at - block->output;
}

static size_t block_unpack(const struct block *block, uint8_t *to)
{
	const uint8_t *p = block->output, *end = p + block->output_size;
	uint8_t *out = to;

	while (p < end) {
		size_t literals = *p++, length = *p++, distance = 0;

		if (length) {
			distance = p[0] | p[1] << 8;
			p += 2;
		}
		memcpy(out, p, literals);
		out += literals;
		p += literals;
		for (; length; length--, out++)
			*out = out[-(ptrdiff_t)distance];
	}
	return out - to;
}

static struct block *jobs_take(struct jobs *jobs)
{
	struct block *block = NULL;

	pthread_mutex_lock(&jobs->lock);
	if (jobs->next < jobs->count)
		block = &jobs->blocks[jobs->next++];
	pthread_mutex_unlock(&jobs->lock);
	return block;
}

static void jobs_hand_in(struct jobs *jobs, const struct block *block)
{
	pthread_mutex_lock(&jobs->lock);
	jobs->done++;
	jobs->bytes += block->output_size;
	pthread_mutex_unlock(&jobs->lock);
}

static void *work(void *argument)
{
	struct jobs *jobs = *(struct jobs **)argument;
	struct matcher *matcher = must_alloc(1, sizeof(*matcher));
	uint8_t *unpacked = must_alloc(1, BLOCK);
	struct block *block;

	while ((block = jobs_take(jobs))) {
		block_compress(block, matcher);
		if (block_unpack(block, unpacked) != block->input_size ||
		    checksum(unpacked, block->input_size) != block->checksum ||
		    memcmp(unpacked, block->input, block->input_size))
			die("a block does not unpack to what it was");
		jobs_hand_in(jobs, block);
	}
	free(unpacked);
	free(matcher);
	return NULL;
}

/* Something like text: words of a fixed vocabulary, the early ones more often. */
static void fill_text(uint8_t *to, size_t size)
{
	char words[WORDS][12];
	uint64_t random = 42;
	size_t at = 0;

	for (int i = 0; i < WORDS; i++) {
		int length = 2 + next_random(&random) % 9;

		for (int j = 0; j < length; j++)
			words[i][j] = 'a' + next_random(&random) % 26;
		words[i][length] = '\0';
	}
	while (at < size) {
		uint64_t r = next_random(&random);
		const char *word = words[(r % WORDS) * (r >> 32 & 1023) / 1024];

		while (*word && at < size)
			to[at++] = *word++;
		if (at < size)
			to[at++] = r >> 60 ? ' ' : '\n';
	}
}

int main(int argc, char **argv)
{
	struct options options = options_read(argc, argv, 2, 16 << 10);
	size_t size = (size_t)options.size << 10;
	uint8_t *input = must_alloc(1, size);
	struct jobs jobs = {.lock = PTHREAD_MUTEX_INITIALIZER, .count = (size + BLOCK - 1) / BLOCK};
	struct jobs *arguments[MAX_THREADS];
	uint64_t sum = 0;

	fill_text(input, size);
	jobs.blocks = must_alloc(jobs.count, sizeof(*jobs.blocks));
	for (size_t i = 0; i < jobs.count; i++) {
		jobs.blocks[i].input = input + i * BLOCK;
		jobs.blocks[i].input_size = size - i * BLOCK < BLOCK ? size - i * BLOCK : BLOCK;
	}
	for (int i = 0; i < options.threads; i++)
		arguments[i] = &jobs;
	threads_run(options.threads, work, arguments, sizeof(*arguments));

	if (jobs.done != jobs.count)
		die("a block was compressed twice or not at all");
	for (size_t i = 0; i < jobs.count; i++) {
		const struct block *block = &jobs.blocks[i];

		sum = sum * 31 + checksum(block->output, block->output_size);
		sum = sum * 31 + block->matches * 7 + block->literals;
		free(block->output);
	}
	result_print("compress", (long)jobs.bytes, sum);
	free(jobs.blocks);
	free(input);
	return 0;
}
