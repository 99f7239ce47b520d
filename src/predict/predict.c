/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/predict.h"

#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORK_LIMIT 50000000ull

void predict_init(struct predict *p, const struct history *history, const struct predict_options *options)
{
	*p = (struct predict){.history = history, .options = *options};
	p->work = options->work_limit ? options->work_limit : WORK_LIMIT;
	locksets_build(&p->locks, history);
	order_build(&p->order, history);
	contend_find(&p->contend, &p->order);
	guards_find(&p->guards, &p->locks, &p->order);
}

void predict_release(struct predict *p)
{
	locksets_release(&p->locks);
	order_release(&p->order);
	contend_release(&p->contend);
	guards_release(&p->guards);
	free(p->predictions);
	map_release(&p->known);
	map_release(&p->refused);
	*p = (struct predict){0};
}

struct prediction *predict_add(struct predict *p, uint64_t key)
{
	if (map_get(&p->known, key))
		return NULL;
	map_set(&p->known, key, 1);
	map_remove(&p->refused, key);
	if (p->count == p->room) {
		p->room = p->room ? p->room * 2 : 64;
		p->predictions = mem_resize(p->predictions, p->room, sizeof(*p->predictions));
	}
	struct prediction *new = &p->predictions[p->count++];

	*new = (struct prediction){0};
	return new;
}

void predict_refuse(struct predict *p, uint64_t key, enum order_reason reason)
{
	if (!map_get(&p->known, key))
		map_set(&p->refused, key, reason + 1);
}

bool predict_feasible(struct predict *p, const struct weave_goal *goal, enum order_reason *reason)
{
	struct weave w;
	bool yes;

	if (!order_tokens_suffice(&p->order, goal->threads, goal->targets, goal->count)) {
		*reason = ORDER_TOKENS;
		return false;
	}
	yes = weave_solve(&w, goal, &p->locks, &p->order);
	if (!yes)
		*reason = w.reason;
	weave_release(&w);
	return yes;
}

uint32_t predict_later_point(const struct predict *p, uint32_t thread, uint32_t limit)
{
	const struct lockset_position *positions = p->locks.positions;
	uint32_t next = positions[lockset_position(&p->locks, thread, limit)].next;
	uint32_t given_up = next ? positions[next].event : HISTORY_NONE;
	uint32_t posted = order_next_post(&p->order, thread, limit);
	uint32_t event = given_up < posted ? given_up : posted;

	return event == HISTORY_NONE ? HISTORY_NONE : event + 1;
}

void predict_run(struct predict *p)
{
	cutpoint_run(p);
	pattern_run(p);
	for (uint64_t i = 0; p->refused.slots && i <= p->refused.mask; i++)
		if (p->refused.slots[i].value)
			p->counts.impossible[p->refused.slots[i].value - 1]++;
	for (uint32_t i = 0; i < p->count; i++) {
		p->counts.late += p->predictions[i].late;
		if (p->predictions[i].late)
			continue;
		p->counts.by_kind[p->predictions[i].kind]++;
		p->counts.seen += p->predictions[i].seen;
		p->counts.inside += p->predictions[i].inside;
	}
}

void predict_pattern_text(const struct predict *p, const struct prediction *prediction, char *text)
{
	const struct history_event *events = p->history->events;

	if (prediction->kind == PREDICT_CYCLE) {
		strcpy(text, "cycle");
		return;
	}
	for (uint32_t i = 0; i < prediction->access_count; i++) {
		char op = events[prediction->accesses[i]].kind == HISTORY_READ ? 'R' : 'W';

		if (prediction->kind == PREDICT_SINGLE)
			text += sprintf(text, "%c", op);
		else
			text += sprintf(text, "%s%c%c", i ? " " : "", op,
					prediction->variables[i] == prediction->variables[0] ? 'x' : 'y');
	}
}
