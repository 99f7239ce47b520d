/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Producers and consumers around a bounded queue with one mutex and two
 * condition variables. Producers write log lines into messages; consumers
 * parse them, check them and keep statistics per service. -n: messages.
 */
#include "common.h"

enum { CAPACITY = 256, SERVICES = 16, TEXT = 104 };

struct message {
	uint32_t id;
	uint16_t producer;
	uint16_t length;
	uint64_t digest; /* of the text, checked by the consumer */
	char text[TEXT];
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t not_empty;
	pthread_cond_t not_full;
	struct message *slots[CAPACITY];
	unsigned head;
	unsigned count;
	unsigned waiting_to_put;
	unsigned waiting_to_get;
	int producers; /* that have not finished */
};

struct service {
	long requests;
	long failures;
	uint64_t bytes;
	uint64_t longest;
};

struct worker {
	struct queue *queue;
	int number;
	int is_producer;
	long messages;
	uint64_t digests;
	struct service services[SERVICES];
};

static const char *const names[SERVICES] = {"login",  "search", "cart",   "pay",    "mail",  "image",
					    "report", "export", "import", "backup", "admin", "metric",
					    "health", "static", "upload", "stream"};

static uint64_t digest(const char *text, size_t length)
{
	uint64_t h = 1469598103934665603u;

	for (size_t i = 0; i < length; i++)
		h = (h ^ (unsigned char)text[i]) * 1099511628211u;
	return h;
}

static void queue_put(struct queue *queue, struct message *message)
{
	pthread_mutex_lock(&queue->lock);
	while (queue->count == CAPACITY) {
		queue->waiting_to_put++;
		pthread_cond_wait(&queue->not_full, &queue->lock);
		queue->waiting_to_put--;
	}
	queue->slots[(queue->head + queue->count++) % CAPACITY] = message;
	if (queue->waiting_to_get)
		pthread_cond_signal(&queue->not_empty);
	pthread_mutex_unlock(&queue->lock);
}

/* NULL once the queue is empty and every producer has finished. */
static struct message *queue_get(struct queue *queue)
{
	struct message *message = NULL;

	pthread_mutex_lock(&queue->lock);
	while (!queue->count && queue->producers) {
		queue->waiting_to_get++;
		pthread_cond_wait(&queue->not_empty, &queue->lock);
		queue->waiting_to_get--;
	}
	if (queue->count) {
		message = queue->slots[queue->head];
		queue->head = (queue->head + 1) % CAPACITY;
		queue->count--;
		if (queue->waiting_to_put)
			pthread_cond_signal(&queue->not_full);
	}
	pthread_mutex_unlock(&queue->lock);
	return message;
}

static void queue_producer_done(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	if (--queue->producers == 0)
		pthread_cond_broadcast(&queue->not_empty);
	pthread_mutex_unlock(&queue->lock);
}

static char *put_text(char *p, const char *text)
{
	while (*text)
		*p++ = *text++;
	return p;
}

static char *put_number(char *p, uint64_t value)
{
	char digits[20];
	int count = 0;

	do
		digits[count++] = '0' + value % 10;
	while (value /= 10);
	while (count)
		*p++ = digits[--count];
	return p;
}

static void produce(struct worker *worker)
{
	uint64_t random = mix(worker->number + 77);

	for (long i = 0; i < worker->messages; i++) {
		struct message *message = must_alloc(1, sizeof(*message));
		uint64_t r = next_random(&random);
		char *p = message->text;

		message->id = (uint32_t)i;
		message->producer = worker->number;
		p = put_text(p, "service=");
		p = put_text(p, names[r % SERVICES]);
		p = put_text(p, " status=");
		p = put_number(p, (r >> 8) % 50 ? 200 : 500);
		p = put_text(p, " bytes=");
		p = put_number(p, (r >> 20) % 100000);
		p = put_text(p, " micros=");
		p = put_number(p, (r >> 40) % 1000000);
		message->length = p - message->text;
		message->digest = digest(message->text, message->length);
		queue_put(worker->queue, message);
	}
	queue_producer_done(worker->queue);
}

/* The value of "name=value", where words are separated by blanks. */
static const char *field(const char *text, const char *name)
{
	size_t length = strlen(name);

	for (const char *p = text; p; p = strchr(p, ' ')) {
		p += *p == ' ';
		if (!strncmp(p, name, length) && p[length] == '=')
			return p + length + 1;
	}
	die("a message lacks a field");
	return NULL;
}

static uint64_t field_number(const char *text, const char *name)
{
	const char *p = field(text, name);
	uint64_t value = 0;

	for (; *p >= '0' && *p <= '9'; p++)
		value = value * 10 + (*p - '0');
	return value;
}

static struct service *service_find(struct worker *worker, const char *name)
{
	for (int i = 0; i < SERVICES; i++) {
		size_t length = strlen(names[i]);

		if (!strncmp(name, names[i], length) && name[length] == ' ')
			return &worker->services[i];
	}
	die("a message names no known service");
	return NULL;
}

static void consume(struct worker *worker)
{
	struct message *message;

	while ((message = queue_get(worker->queue))) {
		struct service *service = service_find(worker, field(message->text, "service"));
		uint64_t micros = field_number(message->text, "micros");

		if (digest(message->text, message->length) != message->digest)
			die("a message was damaged");
		service->requests++;
		service->failures += field_number(message->text, "status") >= 500;
		service->bytes += field_number(message->text, "bytes");
		if (micros > service->longest)
			service->longest = micros;
		worker->digests += mix(message->digest + message->id + ((uint64_t)message->producer << 32));
		worker->messages++;
		REQUEST(24);
		free(message);
	}
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	if (worker->is_producer)
		produce(worker);
	else
		consume(worker);
	return NULL;
}

int main(int argc, char **argv)
{
	struct options options = options_read(argc, argv, 4, 1000000);
	static struct worker workers[MAX_THREADS];
	struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER,
			      .not_empty = PTHREAD_COND_INITIALIZER,
			      .not_full = PTHREAD_COND_INITIALIZER};
	struct service total[SERVICES] = {0};
	long messages = 0;
	uint64_t sum = 0;

	if (options.threads < 2)
		die("a queue needs two threads");
	queue.producers = options.threads / 2;
	for (int i = 0; i < options.threads; i++) {
		workers[i].queue = &queue;
		workers[i].number = i;
		workers[i].is_producer = i < options.threads / 2;
		workers[i].messages = workers[i].is_producer ? options.size / (options.threads / 2) : 0;
	}
	threads_run(options.threads, work, workers, sizeof(*workers));

	for (int i = options.threads / 2; i < options.threads; i++) {
		messages += workers[i].messages;
		sum += workers[i].digests;
		for (int s = 0; s < SERVICES; s++) {
			const struct service *service = &workers[i].services[s];

			total[s].requests += service->requests;
			total[s].failures += service->failures;
			total[s].bytes += service->bytes;
			if (service->longest > total[s].longest)
				total[s].longest = service->longest;
		}
	}
	for (int s = 0; s < SERVICES; s++)
		sum = sum * 31 + mix(total[s].requests ^ mix(total[s].failures) ^ mix(total[s].bytes)) +
		      total[s].longest;
	result_print("queue", messages, sum);
	return 0;
}
