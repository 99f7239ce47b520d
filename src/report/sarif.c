/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "report/sarif.h"

#include "base/err.h"
#include "base/text.h"
#include "report/rules.h"
#include "report/value.h"

#include <stdlib.h>
#include <string.h>

/* What GitHub takes of one file: results of a run, steps of a result. */
enum { MOST_RESULTS = 5000, MOST_STEPS = 1000, MOST_FRAMES = 50 };

struct sarif {
	const struct finding_list *list;
	const struct report_options *options;
};

/* In a message braces are places for arguments, and brackets are links, unless they are marked. */
static json_t *message(char *text)
{
	char *escaped = NULL;
	size_t size;
	FILE *out = open_memstream(&escaped, &size);

	BUG_ON(!out);
	for (const char *p = text; *p; p++) {
		if (*p == '{' || *p == '}')
			putc(*p, out);
		else if (*p == '[' || *p == ']')
			putc('\\', out);
		putc(*p, out);
	}
	fclose(out);
	free(text);
	return json_pack("{so}", "text", value_take(escaped));
}

/* A path as a URI: all bytes that could mean something else are written as %XX. */
static json_t *uri(const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	BUG_ON(!out);
	if (*path == '/')
		fputs("file://", out);
	for (const unsigned char *p = (const unsigned char *)path; *p; p++) {
		if (strchr(plain, *p))
			putc(*p, out);
		else
			fprintf(out, "%%%02X", *p);
	}
	fclose(out);
	return value_take(text);
}

static json_t *location(const struct sarif *s, const struct finding_place *place, json_t *words)
{
	json_t *at = json_object(), *artifact = json_object(), *physical = json_object(),
	       *region = json_object();
	const char *path = report_path(s->options, place->file);

	/* Who has no file is found in the program. */
	if (!*path)
		path = s->list->program && *s->list->program ? s->list->program : "unknown";
	json_object_set_new(artifact, "uri", uri(path));
	if (*path != '/')
		json_object_set_new(artifact, "uriBaseId", json_string("%SRCROOT%"));
	json_object_set_new(region, "startLine", json_integer(place->line ? place->line : 1));
	if (place->line && place->column)
		json_object_set_new(region, "startColumn", json_integer(place->column));
	json_object_set_new(physical, "artifactLocation", artifact);
	json_object_set_new(physical, "region", region);
	json_object_set_new(at, "physicalLocation", physical);
	if (place->function)
		json_object_set_new(at, "logicalLocations",
				    json_pack("[{soss}]", "fullyQualifiedName", value_text(place->function),
					      "kind", "function"));
	if (words)
		json_object_set_new(at, "message", words);
	return at;
}

static char *step_words(const struct finding *finding, uint32_t step, const char *thread)
{
	const struct finding_access *access = &finding->accesses[step];
	uint32_t stale = report_stale_at(finding, step);
	char *words = NULL;
	size_t size;
	FILE *out = open_memstream(&words, &size);

	BUG_ON(!out);
	fprintf(out, "%u. %s %s %s", step + 1, thread, report_op_text(access->op),
		access->variable ? access->variable : "memory");
	for (uint32_t i = 0; i < access->lock_count; i++)
		fprintf(out, "%s%s", i ? ", " : ", holding ", access->locks[i]);
	if (access->note)
		fprintf(out, ": %s", access->note);
	if (stale != FINDING_NO_ACCESS)
		fprintf(out, "; stale from step %u on", stale + 1);
	fclose(out);
	return words;
}

static bool in_conflict(const struct finding *finding, uint32_t step)
{
	for (uint32_t i = 0; i < finding->edge_count; i++)
		if (finding->edges[i].source == step || finding->edges[i].target == step)
			return true;
	return false;
}

static json_t *step(const struct sarif *s, const struct finding *finding, uint32_t number, const char *thread,
		    bool with_stack)
{
	const struct finding_access *access = &finding->accesses[number];
	json_t *at = json_object();

	json_object_set_new(at, "executionOrder", json_integer(number + 1));
	json_object_set_new(at, "location",
			    location(s, &access->place, message(step_words(finding, number, thread))));
	json_object_set_new(at, "importance",
			    json_string(in_conflict(finding, number) ? "essential" : "important"));
	if (access->op == 'L' || access->op == 'A')
		json_object_set_new(at, "kinds",
				    json_pack("[ss]", access->op == 'L' ? "acquire" : "release", "lock"));
	else if (report_op_is_lock(access->op))
		json_object_set_new(at, "kinds", json_pack("[s]", "lock"));
	else
		json_object_set_new(at, "kinds", json_pack("[s]", "memory"));
	if (with_stack && access->depth) {
		json_t *frames = json_array();

		for (uint32_t i = 0; i < access->depth && i < MOST_FRAMES; i++)
			json_array_append_new(
				frames, json_pack("{so}", "location", location(s, &access->stack[i], NULL)));
		json_object_set_new(at, "stack", json_pack("{so}", "frames", frames));
	}
	return at;
}

/* The flow of one lane, or, with the stacks, of all for a lane of UINT32_MAX. The two code flows share the
 * steps that GitHub takes of a result. */
static json_t *flow(const struct sarif *s, const struct finding *finding, const struct report_lanes *lanes,
		    uint32_t lane)
{
	json_t *steps = json_array(), *thread = json_object();

	for (uint32_t i = 0; i < finding->access_count && i < MOST_STEPS / 2; i++)
		if (lane == UINT32_MAX || lanes->of_step[i] == lane)
			json_array_append_new(steps, step(s, finding, i, lanes->names[lanes->of_step[i]],
							  lane == UINT32_MAX));
	if (lane != UINT32_MAX)
		json_object_set_new(thread, "id", value_text(lanes->names[lane]));
	json_object_set_new(thread, "locations", steps);
	return thread;
}

static json_t *code_flows(const struct sarif *s, const struct finding *finding)
{
	struct report_lanes lanes;
	json_t *threads = json_array(), *flows;

	report_lanes_init(&lanes, finding);
	/* A thread whose steps are all beyond the limit has no flow: one without locations is not valid. */
	for (uint32_t lane = 0; lane < lanes.count; lane++) {
		json_t *thread = flow(s, finding, &lanes, lane);

		if (json_array_size(json_object_get(thread, "locations")))
			json_array_append(threads, thread);
		json_decref(thread);
	}
	flows = json_pack("[{so,s[o]},{so,so}]", "message",
			  message(mem_text("The interleaving, step by step")), "threadFlows",
			  flow(s, finding, &lanes, UINT32_MAX), "message",
			  message(mem_text("The same, thread by thread")), "threadFlows", threads);
	report_lanes_release(&lanes);
	return flows;
}

static json_t *result(const struct sarif *s, const struct finding *finding)
{
	json_t *object = json_object(), *related = json_array();
	struct finding_place place = report_place(finding);
	char *title = finding_title(finding);

	json_object_set_new(object, "ruleId", json_string(finding_kind_text(finding->kind)));
	json_object_set_new(object, "ruleIndex", json_integer(finding->kind));
	json_object_set_new(object, "kind", json_string("fail"));
	json_object_set_new(object, "level", json_string(report_level(finding)));
	json_object_set_new(
		object, "message",
		message(mem_textf("%s (%s)%s%s", title, finding_state_text(finding->state),
				  finding->advice ? ". " : "", finding->advice ? finding->advice : "")));
	json_object_set_new(object, "locations", json_pack("[o]", location(s, &place, NULL)));
	for (uint32_t i = 0; i < finding->unit_count && i < 20; i++) {
		const struct finding_unit *unit = &finding->units[i];
		json_t *at = location(
			s, &unit->place,
			message(mem_textf("unit %u: %s%s%s", i + 1,
					  unit->place.function ? unit->place.function : "?",
					  unit->why ? ", a unit because " : "", unit->why ? unit->why : "")));

		json_object_set_new(at, "id", json_integer(i + 1));
		json_array_append_new(related, at);
	}
	json_object_set_new(object, "relatedLocations", related);
	if (finding->access_count)
		json_object_set_new(object, "codeFlows", code_flows(s, finding));
	json_object_set_new(object, "fingerprints", json_pack("{ss}", "atomsan/v1", finding->id));
	json_object_set_new(object, "partialFingerprints",
			    json_pack("{ss}", "atomsanFinding/v1", finding->id));
	json_object_set_new(object, "rank", json_real(finding->confidence * 100));
	if (finding->seen && finding->seen <= INT32_MAX)
		json_object_set_new(object, "occurrenceCount", json_integer((json_int_t)finding->seen));
	if (finding->review == FINDING_FALSE_ALARM || finding->review == FINDING_INTENDED)
		json_object_set_new(
			object, "suppressions",
			json_pack("[{ssssso}]", "kind", "external", "status", "accepted", "justification",
				  finding->reason ? value_text(finding->reason) : json_string("reviewed")));
	json_object_set_new(object, "properties",
			    json_pack("{ss,so,ss}", "state", finding_state_text(finding->state), "pattern",
				      value_text(finding->pattern), "review",
				      finding_review_text(finding->review)));
	free(title);
	return object;
}

static json_t *notifications(const struct sarif *s)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < s->list->blind_spot_count; i++)
		json_array_append_new(array, json_pack("{ssso}", "level", "warning", "message",
						       message(mem_text(s->list->blind_spots[i]))));
	if (s->list->finding_count > MOST_RESULTS)
		json_array_append_new(
			array,
			json_pack("{ssso}", "level", "warning", "message",
				  message(mem_textf("%u findings are left out here, the least certain ones.",
						    s->list->finding_count - MOST_RESULTS))));
	return array;
}

void report_sarif(FILE *out, const struct finding_list *list, const struct report_options *options)
{
	struct sarif s = {list, options};
	uint32_t *order = report_by_weight(list);
	json_t *results = json_array();

	for (uint32_t i = 0; i < list->finding_count && i < MOST_RESULTS; i++)
		json_array_append_new(results, result(&s, &list->findings[order[i]]));
	free(order);
	json_t *root =
		json_pack("{ss,ss,s[{s{s{ss,ss,so}},s{ss},s{s{s{ss}}},ss,s[{sb,so}],so}]}", "$schema",
			  "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs", "tool",
			  "driver", "name", "atomsan", "version", ATOMSAN_VERSION, "rules", report_rules(),
			  "automationDetails", "id", "atomsan/", "originalUriBaseIds", "%SRCROOT%",
			  "description", "text", "The folder that relative paths begin at.", "columnKind",
			  "utf16CodeUnits", "invocations", "executionSuccessful", 1,
			  "toolExecutionNotifications", notifications(&s), "results", results);

	BUG_ON(!root);
	json_dumpf(root, out, JSON_COMPACT | JSON_ENSURE_ASCII);
	putc('\n', out);
	json_decref(root);
}
