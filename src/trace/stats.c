/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "trace/stats.h"

#include "base/text.h"
#include "trace/describe.h"

#include <inttypes.h>
#include <stdlib.h>

static const struct {
	const char *name, *help;
} counters[TRACE_COUNTER_COUNT] = {
#define X(id, text, help) {text, help},
	TRACE_COUNTERS(X)
#undef X
};

void stats_init(struct trace_stats *stats, const struct trace *trace)
{
	*stats = (struct trace_stats){.by_thread = mem_zalloc(trace->thread_count + 1, sizeof(uint64_t))};
}

void stats_release(struct trace_stats *stats)
{
	free(stats->by_thread);
}

void stats_count(struct trace_stats *stats, const struct trace_event *e)
{
	stats->events++;
	stats->stamped += e->stamped;
	stats->bytes +=
		8 * (1u + (e->stamped || e->kind == TRACE_OP) + (unsigned)__builtin_popcount(e->prefixes));
	stats->by_thread[e->thread]++;
	switch (e->kind) {
	case TRACE_ACCESS:
		stats->accesses[e->access]++;
		break;
	case TRACE_ENTER:
		stats->enters++;
		break;
	case TRACE_EXIT:
		stats->exits++;
		break;
	case TRACE_OP:
		stats->ops[e->op]++;
		break;
	}
}

void stats_blind_spots(const struct trace *trace, const char *start, FILE *out)
{
	for (int i = 0; i < TRACE_COUNTER_COUNT; i++)
		if (trace->header.counters[i])
			fprintf(out, "%snot seen: %" PRIu64 " %s\n", start, trace->header.counters[i],
				counters[i].help);
	for (uint32_t i = 0; i < trace->note_count; i++)
		fprintf(out, "%smissing: %s\n", start, trace->notes[i]);
}

/* Readers of JSON have signed numbers. */
static uint64_t clamp(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : value;
}

void stats_blind_spots_json(const struct trace *trace, FILE *out)
{
	const char *comma = "";

	fputs("[", out);
	for (int i = 0; i < TRACE_COUNTER_COUNT; i++) {
		if (!trace->header.counters[i])
			continue;
		fprintf(out, "%s{\"name\":\"%s\",\"count\":%" PRIu64 ",\"text\":\"%s\"}", comma,
			counters[i].name, clamp(trace->header.counters[i]), counters[i].help);
		comma = ",";
	}
	for (uint32_t i = 0; i < trace->note_count; i++) {
		fprintf(out, "%s{\"name\":\"missing\",\"count\":1,\"text\":", comma);
		text_json(out, trace->notes[i]);
		fputs("}", out);
		comma = ",";
	}
	fputs("]", out);
}

static uint64_t sites(const struct trace *trace)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < trace->module_count; i++)
		n += trace->modules[i].sites;
	return n;
}

void stats_print(const struct trace_stats *stats, const struct trace *trace, FILE *out)
{
	fprintf(out, "events %" PRIu64 ", stamped %" PRIu64 "\n", stats->events, stats->stamped);
	fprintf(out, "bytes %" PRIu64 " in the file, %.2f per event, %.2f once unpacked\n", trace->size,
		stats->events ? (double)trace->size / (double)stats->events : 0.0,
		stats->events ? (double)stats->bytes / (double)stats->events : 0.0);
	fprintf(out, "threads %" PRIu32 ", sites %" PRIu64 ", modules %" PRIu32 "\n", trace->thread_count,
		sites(trace), trace->module_count);
	for (unsigned i = 0; i <= ATOMSAN_UPDATE; i++)
		if (stats->accesses[i])
			fprintf(out, "  %-20s %12" PRIu64 "\n", describe_access(i), stats->accesses[i]);
	if (stats->enters)
		fprintf(out, "  %-20s %12" PRIu64 "\n", "enter", stats->enters);
	if (stats->exits)
		fprintf(out, "  %-20s %12" PRIu64 "\n", "exit", stats->exits);
	for (unsigned i = 0; i < 1 << TRACE_OP_BITS; i++)
		if (stats->ops[i])
			fprintf(out, "  %-20s %12" PRIu64 "\n", trace_op_text(i), stats->ops[i]);
	for (uint32_t i = 0; i < trace->thread_count; i++) {
		fprintf(out, "thread ");
		text_put(out, trace_thread_name(trace, i));
		fprintf(out, " %" PRIu64 "\n", stats->by_thread[i]);
	}
}

void stats_print_json(const struct trace_stats *stats, const struct trace *trace, FILE *out)
{
	fprintf(out,
		"\"counts\":{\"events\":%" PRIu64 ",\"stamped\":%" PRIu64 ",\"bytes\":%" PRIu64
		",\"event_bytes\":%" PRIu64 ",\"threads\":%" PRIu32 ",\"sites\":%" PRIu64
		",\"modules\":%" PRIu32 ",\"kinds\":{\"enter\":%" PRIu64 ",\"exit\":%" PRIu64,
		stats->events, stats->stamped, trace->size, stats->bytes, trace->thread_count, sites(trace),
		trace->module_count, stats->enters, stats->exits);
	/* Plain accesses and operations have names in common, so each kind has its own object. */
	for (unsigned i = 0; i <= ATOMSAN_UPDATE; i++)
		if (i <= ATOMSAN_ATOMIC_RMW || i >= ATOMSAN_OBJECT)
			fprintf(out, ",\"%s\":%" PRIu64, describe_access(i), stats->accesses[i]);
	fputs("},\"ops\":{", out);
	for (unsigned i = 0, n = 0; i < 1 << TRACE_OP_BITS; i++)
		if (stats->ops[i])
			fprintf(out, "%s\"%s\":%" PRIu64, n++ ? "," : "", trace_op_text(i), stats->ops[i]);
	fputs("}},\"threads\":[", out);
	for (uint32_t i = 0; i < trace->thread_count; i++) {
		fprintf(out, "%s{\"name\":", i ? "," : "");
		text_json(out, trace_thread_name(trace, i));
		fprintf(out, ",\"number\":%" PRIu32 ",\"events\":%" PRIu64 "}", trace->threads[i].number,
			stats->by_thread[i]);
	}
	fputs("]", out);
}
