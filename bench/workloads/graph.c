/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Breadth-first search, level by level, over a random graph in compressed rows.
 * Threads take chunks of the frontier from an atomic counter, claim vertices
 * with compare-and-exchange and meet at a barrier after every level. Depths do
 * not depend on who claimed a vertex. -n: vertices.
 */
#include "common.h"
#include <stdatomic.h>

enum { DEGREE = 8, CHUNK = 64, SEARCHES = 6, UNSEEN = -1 };

struct graph {
	uint32_t vertices;
	uint32_t *first; /* vertices + 1 of them */
	uint32_t *targets;
};

struct vertex {
	atomic_int depth;
	uint32_t parent; /* written by who set the depth, read after the search */
};

struct frontier {
	uint32_t *vertices;
	uint32_t count;
};

struct search {
	const struct graph *graph;
	struct vertex *vertices;
	struct frontier now;
	struct frontier next;
	atomic_uint taken;    /* of now */
	pthread_mutex_t lock; /* of next */
	pthread_barrier_t barrier;
	uint64_t edges; /* under lock */
};

struct worker {
	struct search *search;
	uint32_t *found; /* of this level, before it joins next */
	uint32_t found_count;
	uint64_t edges;
};

static void graph_init(struct graph *graph, uint32_t vertices)
{
	uint64_t random = 11;
	uint32_t at = 0;

	graph->vertices = vertices;
	graph->first = must_alloc(vertices + 1, sizeof(*graph->first));
	graph->targets = must_alloc((size_t)vertices * (2 * DEGREE), sizeof(*graph->targets));
	for (uint32_t v = 0; v < vertices; v++) {
		uint32_t degree = 1 + next_random(&random) % (2 * DEGREE - 1);

		graph->first[v] = at;
		while (degree--) {
			uint64_t r = next_random(&random);

			/* half of the edges are short, as in a road map */
			graph->targets[at++] = r & 1 ? (v + (r >> 8) % 1000) % vertices : (r >> 8) % vertices;
		}
	}
	graph->first[vertices] = at;
}

static void visit(struct worker *worker, uint32_t from, int depth)
{
	struct search *search = worker->search;
	const struct graph *graph = search->graph;

	for (uint32_t e = graph->first[from]; e < graph->first[from + 1]; e++) {
		uint32_t to = graph->targets[e];
		struct vertex *vertex = &search->vertices[to];
		int unseen = UNSEEN;

		worker->edges++;
		if (atomic_load_explicit(&vertex->depth, memory_order_relaxed) != UNSEEN)
			continue;
		if (atomic_compare_exchange_strong(&vertex->depth, &unseen, depth)) {
			vertex->parent = from;
			worker->found[worker->found_count++] = to;
		}
	}
}

static void join_next(struct worker *worker)
{
	struct search *search = worker->search;
	uint32_t at;

	pthread_mutex_lock(&search->lock);
	at = search->next.count;
	search->next.count += worker->found_count;
	search->edges += worker->edges;
	pthread_mutex_unlock(&search->lock);
	memcpy(search->next.vertices + at, worker->found, worker->found_count * sizeof(*worker->found));
	worker->found_count = 0;
	worker->edges = 0;
}

static void swap_frontiers(struct search *search)
{
	struct frontier now = search->now;

	search->now = search->next;
	search->next = now;
	search->next.count = 0;
	atomic_store(&search->taken, 0);
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	struct search *search = worker->search;

	for (int depth = 1; search->now.count; depth++) {
		uint32_t begin;

		while ((begin = atomic_fetch_add(&search->taken, CHUNK)) < search->now.count) {
			for (uint32_t i = begin; i < begin + CHUNK && i < search->now.count; i++) {
				visit(worker, search->now.vertices[i], depth);
				REQUEST(32);
			}
		}
		join_next(worker);
		if (pthread_barrier_wait(&search->barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
			swap_frontiers(search);
		pthread_barrier_wait(&search->barrier);
	}
	return NULL;
}

static void search_begin(struct search *search, uint32_t from)
{
	for (uint32_t v = 0; v < search->graph->vertices; v++)
		atomic_init(&search->vertices[v].depth, UNSEEN);
	atomic_init(&search->vertices[from].depth, 0);
	search->vertices[from].parent = from;
	search->now.vertices[0] = from;
	search->now.count = 1;
	search->next.count = 0;
	atomic_init(&search->taken, 0);
}

static uint64_t search_checksum(const struct search *search, long *reached)
{
	uint64_t sum = 0;

	for (uint32_t v = 0; v < search->graph->vertices; v++) {
		const struct vertex *vertex = &search->vertices[v];
		int depth = atomic_load(&vertex->depth);

		if (depth == UNSEEN)
			continue;
		if (depth && atomic_load(&search->vertices[vertex->parent].depth) != depth - 1)
			die("a vertex is not one step from its parent");
		sum += mix((uint64_t)v << 20 | depth);
		(*reached)++;
	}
	return sum;
}

int main(int argc, char **argv)
{
	struct options options = options_read(argc, argv, 2, 500000);
	struct worker workers[MAX_THREADS] = {0};
	struct graph graph;
	struct search search = {.graph = &graph, .lock = PTHREAD_MUTEX_INITIALIZER};
	uint64_t sum = 0;
	long reached = 0;

	graph_init(&graph, (uint32_t)options.size);
	search.vertices = must_alloc(options.size, sizeof(*search.vertices));
	search.now.vertices = must_alloc(options.size, sizeof(uint32_t));
	search.next.vertices = must_alloc(options.size, sizeof(uint32_t));
	pthread_barrier_init(&search.barrier, NULL, options.threads);
	for (int i = 0; i < options.threads; i++) {
		workers[i].search = &search;
		workers[i].found = must_alloc(options.size, sizeof(uint32_t));
	}
	for (int i = 0; i < SEARCHES; i++) {
		search_begin(&search, (uint32_t)(mix(i) % graph.vertices));
		threads_run(options.threads, work, workers, sizeof(*workers));
		sum = sum * 31 + search_checksum(&search, &reached);
	}
	result_print("graph", reached, sum + search.edges);

	for (int i = 0; i < options.threads; i++)
		free(workers[i].found);
	pthread_barrier_destroy(&search.barrier);
	free(search.next.vertices);
	free(search.now.vertices);
	free(search.vertices);
	free(graph.targets);
	free(graph.first);
	return 0;
}
