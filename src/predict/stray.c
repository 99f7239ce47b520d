/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/stray.h"

#include "base/err.h"
#include "predict/synth.h"

#include <stdlib.h>
#include <string.h>

void stray_init(struct stray *s, const struct history *h, const struct machine_index *index)
{
	*s = (struct stray){.history = h, .index = index};
	s->source = mem_zalloc(h->count + 1ull, sizeof(*s->source));
	s->latest = mem_zalloc(h->variable_count + 1ull, sizeof(*s->latest));
	s->next = mem_zalloc(h->thread_count + 1ull, sizeof(*s->next));
	for (uint32_t i = 0; i < h->count; i++) {
		const struct history_event *e = &h->events[i];

		if (e->kind == HISTORY_READ)
			s->source[i] = s->latest[history_variable_root(h, e->object)];
		else if (e->kind == HISTORY_WRITE)
			s->latest[history_variable_root(h, e->object)] = i + 1;
	}
}

void stray_release(struct stray *s)
{
	free(s->source);
	free(s->latest);
	free(s->next);
	*s = (struct stray){0};
}

uint32_t stray_count(struct stray *s, const struct synth_schedule *schedule)
{
	const struct history *h = s->history;
	uint32_t strayed = 0;

	memset(s->latest, 0, h->variable_count * sizeof(*s->latest));
	memcpy(s->next, s->index->first, h->thread_count * sizeof(*s->next));
	for (uint32_t i = 0; i < schedule->count; i++) {
		uint32_t t = schedule->steps[i].thread;

		for (; s->next[t] < s->index->first[t + 1]; s->next[t]++) {
			uint32_t event = s->index->events[s->next[t]];
			const struct history_event *e = &h->events[event];

			if (event >= schedule->steps[i].limit)
				break;
			if (e->kind == HISTORY_READ)
				strayed += s->source[event] != s->latest[history_variable_root(h, e->object)];
			else if (e->kind == HISTORY_WRITE)
				s->latest[history_variable_root(h, e->object)] = event + 1;
		}
	}
	return strayed;
}
