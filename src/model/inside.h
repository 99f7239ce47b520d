/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The parts of the model, for the files of this folder alone:
 *
 *   places.c   what is known of a site or a function, looked up once
 *   memory.c   granules, locations, blocks
 *   sets.c     atomic sets: which one an access belongs to, and which merge
 *   wholes.c   what those that merged have in common
 *   instances.c sets by what they are found by
 *   frames.c   open functions and loop iterations of the threads
 *   choose.c   which of them is the unit of an access
 *   entire.c   outermost calls in which nothing else is one
 *   units.c    units that are open
 *   brackets.c units that are no calls: declared ones, and critical sections
 *   gather.c   keeps notes few: those that go together as they are taken
 *   tidy.c     those that do later
 *   notes.c    what units did that the sink has not been told of
 *   jots.c     the same, not even noted as long as nobody asks
 *   quiet.c    units that are alone on their set: noted down, and mostly forgotten
 *   private.c  units that are not, and what they do that nobody else meets
 *   kept.c     the same of units that have ended and still matter
 *   held.c     locks held, lock sets, semaphores that are locks
 *   together.c which members the program's critical sections treat as one
 *   names.c    names for reports
 *   hot.c      accesses, and the way that most of them take
 *   pieces.c   the same for those to several granules
 *   access.c   the others: from bytes to cells, sets and units
 *   model.c    events
 *
 * Numbers count from 1; 0 stands for none.
 */
#ifndef ATOMSAN_MODEL_INSIDE_H
#define ATOMSAN_MODEL_INSIDE_H

#include "base/map.h"
#include "base/table.h"
#include "model/memory.h"
#include "model/model.h"
#include "model/notes.h"
#include "model/together.h"
#include "trace/nametable.h"

enum { PLACE_READS = 1, PLACE_WRITES = 2 };

/* What matters of a site. */
struct place {
	bool known;        /* was looked up */
	bool left_out;     /* atomic, volatile or ignored data */
	bool private_data; /* left out, for one thread alone reaches it */
	uint8_t how;       /* PLACE_READS, PLACE_WRITES; 0: it is no access that says what it does */
	uint16_t bytes;    /* of the access, unless it says itself */
	uint8_t base_kind, flags;
	bool owned, not_owned; /* the user's word on the pointer that leads here */
	bool leads;            /* through a pointer that may make what it leads to part of an owner */
	uint8_t counts;        /* enum atomsan_counts */
	uint16_t type;         /* struct that has the member */
	uint16_t holder;       /* struct with the pointer that leads here */
	uint16_t named_set;    /* set that the user put the member in */
	uint16_t merged;       /* group that the user put the type in */
	uint32_t offset, type_size;
	uint32_t size;    /* of the access, where it is always the same */
	uint32_t source;  /* hash of where the source has it: an inlined function has several sites of one */
	uint32_t through; /* index of the pointer in `pointers` */
	uint64_t global;  /* address of the pointer variable that leads here */
	uint32_t ownerless; /* function, plus one, whose code shows no owner here */
};

/* What matters of a function, or of a loop, which is one in the tables. */
struct routine {
	bool known;
	bool is_main, loop, walk;
	bool argument;     /* stands for another parameter of the function below it */
	bool again;        /* or for a search in it, which is made again, and its unit begins anew */
	bool seen_through; /* getter, setter, or no unit by the user's word */
	bool declared, unitfor;
	bool waits;        /* who comes to it waits for others, or would if need be */
	bool synchronises; /* loop: a lock was taken inside an iteration */
	bool starts;       /* threads begin with it, so it is no unit wherever it is called */
	bool passes_on;    /* so what it calls is what its thread begins with */
	bool dispatches;   /* loop: calls jobs */
	bool given;        /* may be a job */
	bool calls_on;     /* calls functions several times on something: see model.calls_on */
	uint16_t receiver_type;
	uint16_t merged; /* group that the user put the receiver's type in */
	uint32_t file;
	uint32_t inner, inner_enough; /* calls in its outermost ones, see entire.c */
};

enum set_kind { SET_INSTANCE, SET_STACK, SET_BLOCK, SET_VARIABLE, SET_FILE, SET_NAMED, SET_ONE, SET_IGNORED };

/* How a set is spoken of. */
struct set_face {
	uint32_t name; /* file, site of allocation, name of the user's */
	uint16_t type;
	uint8_t kind;   /* enum set_kind */
	bool variable;  /* an object that is a variable, whose file is the name */
	uint64_t guard; /* group of variables: its lock, 0: none */
};

/*
 * An atomic set by itself. Merged sets are a tree of depth one: `root` stands for
 * all of them, and what there is to be known of them together is its `whole`. Where
 * the elements of an array become part of something there are millions.
 */
struct set {
	uint32_t root;           /* itself, if it is one; 0: it is free */
	uint32_t whole;          /* the root's; see set_whole */
	uint32_t refs;           /* cells that belong to it */
	uint32_t next, previous; /* ring of the sets with the same root; free list */
	uint8_t kind;            /* enum set_kind: what it is by itself */
	bool owned;              /* belongs to what has a pointer to it, or to a group of variables */
	uint16_t type;           /* not a root: the type that it was called by before */
	uint64_t key;            /* by which it is found */
};
_Static_assert(sizeof(struct set) == 32, "there are many");

/* Sets that have become one. What most accesses look at comes first, on a line of its own. */
struct whole {
	struct noted noted; /* a unit that the sink does not know of, and others by `next` */
	uint32_t cached_thread, cached_unit;
	bool loud;        /* the sink knows of units on it; see quiet.c for those that are not */
	uint8_t wasted;   /* how often much was noted and told all the same; see private.c */
	uint32_t reading; /* the mark of what several units read; see private.c */
	uint32_t handle;
	uint32_t open;    /* units open on it */
	uint32_t members; /* how many sets have it as their root, itself included */
	uint32_t next;    /* free list; where it goes, while they are packed */
	uint32_t guarded; /* variable: the lock set under which it was last found guarded, plus one */
	uint32_t looked;  /* element of an array: the lock set, plus one, when it was last seen whether it */
	uint32_t looked_turn; /* belongs to the others, and model.array_turn at the time */
	uint32_t heads;       /* of the members, those that nothing owns and that are still there */
	struct set_face face; /* of the whole */
	uint64_t holder;      /* key of the set that leads to it, which has a lock of its own; see owners.c */
	uint64_t made; /* time of its first access, if the block was allocated by the same call; or 0 */
} __attribute__((aligned(TABLE_LINE)));
_Static_assert(offsetof(struct whole, handle) == TABLE_LINE, "most accesses look at one line of a set");

/* How far back an iteration remembers what it read. */
#define UNIT_REMEMBERED 8

/* A unit of work that is open, for one set. */
struct open_unit {
	uint32_t set; /* root */
	uint32_t handle;
	uint32_t thread;
	uint32_t frame;         /* index; of a bracket with UNIT_BRACKET */
	uint32_t next_in_frame; /* free list, too */
	uint32_t next_in_set, previous_in_set;
	bool iteration;
	uint8_t reads;                  /* how many there were */
	uint64_t read[UNIT_REMEMBERED]; /* an iteration: what it read last */
	struct log log;
};

#define UNIT_BRACKET 0x80000000u

/* What a frame can be to a set before anybody accesses it, as far as its function tells. */
enum frame_role {
	FRAME_INERT,    /* nothing */
	FRAME_FUNCTION, /* a unit for its receiver's set and for its file's variables */
	FRAME_LOOP,     /* the same once the loop synchronises */
	FRAME_OTHER,    /* there is more to be looked at */
};

struct frame {
	uint64_t serial; /* no other frame has it, and this one gets another when its units end */
	uint64_t receiver;
	uint32_t receiver_own; /* the set whose key the receiver was when it was last looked for */
	uint32_t function;
	uint32_t context;
	uint32_t file;             /* the function's */
	uint32_t body;             /* level of the frame whose code this is, a getter's caller: index + 1 */
	uint16_t receiver_type;    /* the function's */
	uint8_t role;              /* enum frame_role */
	bool start;                /* main, or what a thread began with */
	bool job;                  /* called by an iteration that did not know whom */
	bool receiver_owns;        /* the receiver is no cursor: what it leads to may be its own */
	uint32_t lowest;           /* level of the outermost unit that was noted since; see quiet.c */
	uint32_t notes;            /* the thread's, when it was entered */
	uint32_t lowest_jot, jots; /* the same of what was jotted down; see jots.c */
	uint32_t units;            /* open units that are this call */
	uint32_t objects;          /* number of stack objects below it */
	uint32_t floor;            /* the thread's, when it was entered */
	uint32_t receiver_set;     /* root of the receiver's set, if it was found at that turn */
	uint64_t receiver_turn;    /* see model.turn */
	uint64_t entered;          /* the model's serial then */
};

/* Something that is a unit by itself, opened and closed by operations, not calls. */
struct bracket {
	uint32_t depth; /* frames that it goes over: those below are around it */
	uint32_t context;
	uint32_t units;
	uint32_t rule;
	uint16_t type;   /* of the receiver */
	uint64_t name;   /* the lock, of a critical section */
	uint64_t object; /* MODEL_RULE_CALLS: what the functions that are called have as their receiver */
	uint64_t serial;
};

struct held_lock {
	uint64_t address;
	uint64_t since; /* the model's serial when it was taken */
	uint32_t count;
};

/* A lock that calls gave back though it had been taken before they began. As long as the outermost of them
 * is open, it is not theirs, however often they take it. */
struct given_back {
	uint64_t address, since;
	uint32_t depth;
	uint64_t entered;
};

/* A counter that a call has counted. */
struct counted {
	uint64_t call, address;
	uint32_t source;
	uint8_t way; /* enum atomsan_counts */
};
#define COUNTERS 4

struct thread {
	bool started;
	struct frame *frames;
	uint32_t depth, frame_room;
	uint32_t floor; /* frames below are no units: an iteration above them is */
	uint32_t outer; /* level of the outermost call, index + 1, where it is asked for; see entire.c */
#define THREAD_DOUBTS 64
	uint32_t within; /* not 0: frames from this index on have no part in the access under way */
	struct doubt {
		uint32_t set;
		uint64_t key;
	} doubts[THREAD_DOUBTS]; /* units further in whose sets may yet turn out to be part of others */
	uint32_t doubt_count;
	struct bracket *brackets;
	uint32_t bracket_count, bracket_room;
	struct map open;   /* set to open unit */
	uint64_t *objects; /* addresses of stack objects */
	uint32_t object_count, object_room;
	struct held_lock *held;
	struct given_back given_back; /* the latest */
	uint64_t waiting_since;       /* since when it had the lock that a wait gave back */
	uint32_t held_count, held_room;
	uint32_t locks; /* lock set, unless dirty */
	bool locks_dirty;
	struct section section;
	struct counted counted[COUNTERS]; /* the latest */
	uint32_t counted_next;
	struct map semaphores; /* waits less posts, plus one */
	struct note *notes;
	uint32_t note_count, note_room, note_limit;
	uint32_t note_tidied, note_whole;   /* so many were tidied, by themselves and all at once */
	struct notes_bars bars;             /* of barred logs of the thread */
	uint32_t streams[NOTES_STREAMS][2]; /* see gather.c */
	struct notes_seen *seen;            /* NOTES_SEEN of them, or NULL */
	uint32_t *gathered;                 /* the same */
	uint32_t gather_tries, gather_hits, gather_more;
	struct jot *jots;
	struct jot_run *jot_runs; /* as much room */
	uint32_t jot_count, jot_room, jot_run_count;
	uint32_t epoch; /* goes on when it synchronises, and when an access of it was news to the sink */
};

struct context {
	uint32_t parent, function;
};

struct model {
	struct trace *trace;
	struct model_options options;
	struct model_sink sink;
	uint64_t time;

	struct place *places;
	uint64_t place_count;
	struct routine *routines;
	uint64_t routine_count;
	struct nametable types, files, pointers, names; /* numbers less one */
	struct map type_sizes;                          /* by type, as far as sites have told */
	struct map owners;           /* type that has a pointer, type it leads to: seen in some site */
	struct map reach;            /* memory of set_reaches */
	struct map guarded;          /* memory of place_guarded */
	struct map shared_pointers;  /* pointer members that lead from several owners to one object */
	struct map variables;        /* hash of a name to a variable of this name, plus one */
	struct map calls_on;         /* function, type that it calls functions on several times */
	struct nametable wrappers;   /* names of functions that may wait if what they call does (waits.c) */
	uint32_t *wrapper_functions; /* their numbers, plus one */
	uint32_t wrapper_room;
	uint32_t modules_seen;

	struct memory memory;
	struct set *sets;
	uint32_t set_count, set_room, set_free;
	struct whole *wholes;
	uint32_t whole_count, whole_room, whole_free, whole_unused;
	struct instances { /* address or name to set; see instances.c */
		struct instance *slots;
		uint64_t mask, count;
	} instances;
	struct map arrays; /* address of an array to one of its elements; see guards.c */
	uint64_t turn;     /* goes on when a set merges or is freed: what was found before may have changed */
	uint32_t everything; /* the set of --sets=one */
	uint64_t serial;     /* given out to frames */
	bool by_name;        /* the access under way names the variable that it is to */
	bool quiet;          /* units that nobody meets are kept from the sink */
	uint64_t tellings;   /* how often the sink was told what was noted, which moves cells */
	struct noted *noted;
	uint32_t noted_count, noted_room, noted_free;
#define MODEL_SOON 32
	struct soon { /* granules that are accessed soon, by the word in the trace; see hot.c */
		uint64_t word;
		struct granule *granule;
	} soon[MODEL_SOON];
	const uint8_t *asked; /* the words before were looked for */
#define MODEL_LANES 8
	struct lane { /* sets whose accesses are jotted down, by number; see jots.c */
		uint64_t key;
		struct noted *noted;
	} lanes[MODEL_LANES];
	uint64_t lane_time;           /* that of the latest run of jots */
	uint32_t lane_turn;           /* goes on when they may not be any more */
	uint64_t numbers, renumbered; /* given out to logs, in all and until marks were last cleared */
	struct map marks;             /* to the open units that have them, or with KEPT_MARK to those kept */
	struct kept *kept;            /* see kept.c */
	uint32_t kept_count, kept_room, kept_free, kept_alive;
	uint64_t kept_notes;
	struct map kept_of; /* root to the first one on it */
#define MODEL_ALONE 8
	struct {
		uint32_t set, unit;
	} alone[MODEL_ALONE]; /* units that are the access under way */
	uint32_t alone_count;
	struct notes_left { /* what is left of a thread's notes, while they are tidied */
		struct note *notes;
		uint32_t count, room;
	} left;
	struct notes_pieces {
		struct notes_piece {
			struct note note;
			uint32_t index; /* of the one that it was */
		} *pieces;
		uint32_t count, room;
	} pieces;          /* of notes of which some bytes are no more, the latest first */
	struct map barred; /* bytes to the note that they are no more, plus one, while notes are told */
	struct told {      /* numbers of notes, latest first, while they are told */
		uint32_t *notes;
		uint32_t count, room;
	} told;

	struct thread *threads;
	uint32_t thread_count, live_threads;
	uint32_t coming_threads; /* created and not seen to begin */
	struct open_unit *units;
	uint32_t unit_count, unit_room, unit_free;
	struct context *contexts;
	uint32_t context_count, context_room;
	struct map context_children;

	uint64_t *lock_words; /* lock sets: count, then addresses, one after the other */
	uint64_t lock_length, lock_room;
	uint64_t *lock_sets; /* where each begins */
	uint32_t lock_set_count, lock_set_room;
	struct map lock_hashes;
	struct map lock_sites; /* lock's address to a site that took it */
	struct map signals;    /* semaphores that somebody posts without having waited */

	struct map related;               /* type and two words to MODEL_TOGETHER, MODEL_READ_TOGETHER */
	struct map sections_seen;         /* hashes of sections that were looked at */
	struct section_content *sections; /* from 1 on: contents that sections had */
	uint32_t section_count, section_room;
	struct map section_hashes;
	struct section_step *section_steps;
	struct map claims;       /* sources of a write, and of the read that it followed */
	struct map counted;      /* source of a read: that of what its critical section counts by then */
	struct map counter_ends; /* by source: see counters.c */
	uint64_t related_turn;
	uint32_t array_turn; /* goes on when another element stands for its array */

	struct model_stats stats;
};

/* places.c */
struct place *place_look_up(struct model *model, uint32_t site);
static inline struct place *place_of(struct model *model, uint32_t site)
{
	if (__builtin_expect(site < model->place_count && model->places[site].known, 1))
		return &model->places[site];
	return place_look_up(model, site);
}
struct routine *routine_look_up(struct model *model, uint32_t function);
static inline struct routine *routine_of(struct model *model, uint32_t function)
{
	if (__builtin_expect(function < model->routine_count && model->routines[function].known, 1))
		return &model->routines[function];
	return routine_look_up(model, function);
}
void places_release(struct model *model);
/* Does a chain of pointer members lead from one type to the other? 0 as `to`: to a plain block. */
bool place_reaches(struct model *model, uint16_t from, uint16_t to);
/* Has each instance of the type a lock of its own, as the compiler or the user says? */
bool place_guarded(struct model *model, uint16_t type);
uint32_t place_file(struct model *model, const char *file);

/* waits.c */
void waits_learn(struct model *model, const struct trace_module_table *module);
/* Does what calls this, as struct atomsan_function has it, wait for a condition? */
bool waits_by(struct model *model, const char *calls);

/* guards.c: variables and the locks that guard them */
/* The key of the set that a variable without a struct type is, or of the element of it that is accessed. */
uint64_t guard_variable(struct model *model, const struct thread *thread,
			const struct trace_variable *variable, uint64_t address);
/* The variable joins the group that it turns out to belong to, if it does. */
void guard_find(struct model *model, struct thread *thread, uint32_t index, bool writes);
/* The set of a pointer variable; 0: it has none yet. */
uint32_t guard_pointer(const struct model *model, uint64_t address);

/* sets.c */
/* Keys of what is not found by an address. */
#define KEY_IGNORED (1ull << 62)
#define KEY_GROUP (2ull << 62)
#define KEY_NAME (3ull << 62)
#define KEY_ELEMENT KEY_IGNORED /* with an address, which KEY_IGNORED has not */
uint32_t set_new(struct model *model, enum set_kind kind, uint64_t key, uint16_t type, uint32_t name);
uint32_t set_find_or_new(struct model *model, enum set_kind kind, uint64_t key, uint16_t type, uint32_t name);
/* The two roots become one, which keeps the name of `owner`. */
uint32_t set_merge(struct model *model, uint32_t object, uint32_t owner);
/* instances.c */
/* The set with this key; 0: there is none. */
uint32_t instance_get(const struct model *model, uint64_t key);
/* The set, which has a key, is found by it from now on. */
void instance_add(struct model *model, uint32_t set);
/* It is not, if it was. */
void instance_remove(struct model *model, uint32_t set);
void instances_release(struct model *model);
void sets_init(struct model *model);
/* wholes.c */
uint32_t whole_new(struct model *model);
void whole_free(struct model *model, uint32_t index);
void wholes_pack(struct model *model);
/* Where many sets have become part of others, the rest is put together, by the time that it is half: that is
 * less work than it was to merge them. No access is under way. A test has another number. */
#ifndef SETS_MANY
#define SETS_MANY (1u << 14)
#endif
static inline void wholes_tidy(struct model *model)
{
	if (__builtin_expect(model->whole_count > SETS_MANY && model->whole_unused > model->whole_count / 2,
			     0))
		wholes_pack(model);
}
void sets_release(struct model *model);
static inline uint32_t set_root(const struct model *model, uint32_t set)
{
	return model->sets[set].root;
}
/* Of a root; or of any set that is no variable: one that became part of others keeps its own, for what
 * guards.c finds out of each. */
static inline struct whole *set_whole(const struct model *model, uint32_t set)
{
	return &model->wholes[model->sets[set].whole];
}
/* The root of the set that the cell belongs to, found or made; 0: the user has no eye for it. If sets merge,
 * the cell may be elsewhere afterwards: see model.tellings. */
uint32_t set_look_up(struct model *model, struct thread *thread, struct cell *cell, uint64_t address,
		     struct place *place, bool writes);
/* Is it a type of the C++ library? */
bool set_is_library(const struct model *model, uint16_t type);
/* The granule at this address was nobody's until just now. So are those behind it, up to `end`, as far as the
 * same place accesses them wholly: they get the set that each would get by itself. */
void set_assign_on(struct model *model, const struct place *place, uint64_t at, uint64_t end);
/* The set that the bytes belong to by themselves, found or made (natural.c). */
uint32_t set_natural(struct model *model, const struct thread *thread, uint64_t address,
		     const struct place *place);
/* If the access shows that the set belongs to another one, they merge (owners.c). */
void set_find_owner(struct model *model, struct thread *thread, uint32_t index, uint64_t address,
		    struct place *place);
/* The frame whose code makes the access: not a getter or setter. NULL: none. */
static inline struct frame *unit_frame(const struct thread *thread)
{
	uint32_t body = thread->depth ? thread->frames[thread->depth - 1].body : 0;

	return body ? &thread->frames[body - 1] : NULL;
}
/* Is it certain that the access, by this code (unit_frame), does not show that the set belongs to another
 * one? See find_owner. */
static inline bool set_ownerless(const struct model *model, const struct frame *frame, uint32_t set,
				 const struct place *place)
{
	const struct set *sets = model->sets;

	if (place->global)
		return false;
	if (!frame || !frame->receiver || place->ownerless == frame->function + 1 ||
	    (sets[set].owned && (!place->holder || place->holder != frame->receiver_type)))
		return true;
	/* What belongs to the receiver already. */
	return frame->receiver_owns && frame->receiver_own &&
	       sets[frame->receiver_own].key == frame->receiver &&
	       sets[frame->receiver_own].root == sets[set].root;
}
/* Does the access show nothing new of what the bytes by themselves belong to? */
static inline bool set_typed(const struct cell *cell, const struct place *place)
{
	return cell->set && (!place->type_size || place->type == cell->type || place->type == cell->other);
}
/* And nothing new of what that belongs to, by this code (unit_frame)? */
static inline bool set_known(const struct model *model, const struct frame *frame, const struct cell *cell,
			     const struct place *place)
{
	return set_typed(cell, place) && (!place->leads || set_ownerless(model, frame, cell->set, place)) &&
	       model->sets[cell->set].kind <= SET_BLOCK;
}
static inline uint32_t set_of_access(struct model *model, struct thread *thread, struct cell *cell,
				     uint64_t address, struct place *place, bool writes)
{
	if (__builtin_expect(set_known(model, unit_frame(thread), cell, place), 1))
		return model->sets[cell->set].root;
	return set_look_up(model, thread, cell, address, place, writes);
}
/* Root of a group that the user made; 0: nothing of it was seen yet. */
uint32_t set_of_group(const struct model *model, uint32_t name);
/* Name of the group that the user put the variable in that lies there; 0: none. */
uint32_t set_merged_variable(struct model *model, uint64_t address);
/* Of the object that a receiver points to; 0 if it has none yet and `make` is not set. */
uint32_t set_of_receiver(struct model *model, uint64_t receiver, uint16_t type, bool make);
/* The bytes stop being what they were: a block is allocated, freed, goes out of scope. */
void set_forget(struct model *model, uint64_t start, uint64_t size);
/* A second cell belongs to the same set as this one. */
void set_share(struct model *model, const struct cell *cell, uint64_t address);
/* And does so no longer. */
void set_unshare(struct model *model, const struct cell *cell, uint64_t address);
void set_unit_gone(struct model *model, uint32_t set);

/* access.c */
/* What the parts of the model know of an access. */
struct accessor {
	uint64_t address;
	uint32_t size;
	uint32_t thread, site, context, locks;
	uint64_t time;
	bool reads, writes;
	bool claims;  /* see together.c */
	bool several; /* it may touch more than one cell */
	bool late;    /* it was noted down, and is told now */
	bool ended;   /* and its unit has ended, which is this one */
	uint32_t unit;
	uint32_t shown_by; /* index + 1 of the thread whose code shows what is accessed; 0: its own */
};
/* The units that are single accesses end; nothing must be done to their sets before. */
void access_end(struct model *model);
/* The bytes [at, stop) of one granule. */
void access_piece(struct model *model, struct place *place, struct accessor *who, uint64_t at, uint64_t stop);
/* The sink hears of these bytes of a granule, as far as they are the set's. */
void access_told(struct model *model, uint32_t root, const struct accessor *who, uint64_t granule,
		 uint8_t mask);

/* pieces.c */
/* More than one granule; all of `who` is given. */
void access_pieces(struct model *model, struct thread *thread, struct place *place, struct accessor *who);

/* hot.c */
void access_bytes(struct model *model, uint32_t thread, uint32_t site, uint64_t address, uint64_t size,
		  bool reads, bool writes);

/* notes.c, quiet.c, private.c: see notes.h */
/* Is the unit still open? */
static inline bool quiet_open(const struct model *model, const struct noted *noted)
{
	const struct thread *thread = &model->threads[noted->thread];
	uint32_t frame = noted->log.frame & ~UNIT_BRACKET;

	if (!noted->serial)
		return false;
	if (__builtin_expect(noted->log.frame & UNIT_BRACKET, 0))
		return frame < thread->bracket_count && thread->brackets[frame].serial == noted->serial;
	return frame < thread->depth && thread->frames[frame].serial == noted->serial;
}

/* Has the log, in notes of which the cell has the mark, such an access of these bytes? To an engine it is the
 * first that counts, and no read after a write. */
static inline bool notes_have(const struct log *log, const struct cell *cell, const struct accessor *who,
			      uint8_t bytes)
{
	return cell->location == log_mark(log) &&
	       !(bytes & ~(who->writes ? cell->written : cell->read | cell->written));
}

/* frames.c, choose.c, units.c */
/* Which frame or bracket becomes the unit for the set, and why: UINT32_MAX for none. */
uint32_t unit_choose(struct model *model, uint32_t thread, uint32_t set, uint32_t *rule);
uint32_t unit_open(struct model *model, uint32_t thread, uint32_t frame, uint32_t root, uint32_t rule,
		   uint64_t begin);
void unit_release_all(struct model *model);
struct thread *unit_thread_new(struct model *model, uint32_t index);
static inline struct thread *unit_thread(struct model *model, uint32_t index)
{
	return __builtin_expect(index < model->thread_count, 1) ? &model->threads[index]
								: unit_thread_new(model, index);
}
void unit_enter(struct model *model, uint32_t thread, uint32_t function, uint64_t receiver);
void unit_exit(struct model *model, uint32_t thread, uint32_t frames);
/* The open unit of the thread for this set (a root); MODEL_NO_UNIT: the access stands alone. */
uint32_t unit_look_up(struct model *model, uint32_t thread, uint32_t set);
/* The same for the set's cached unit: no more addresses will be remembered. */
bool unit_remembers_enough(const struct model *model, uint32_t set);
/* Has the open iteration of this handle read the address before? From now on it has. */
bool unit_reads_again(struct model *model, uint32_t set, uint64_t address);
static inline uint32_t unit_of_access(struct model *model, uint32_t thread, uint32_t root)
{
	const struct whole *set = set_whole(model, root);

	if (__builtin_expect(set->cached_unit && set->cached_thread == thread, 1))
		return model->units[set->cached_unit].handle;
	return unit_look_up(model, thread, root);
}
/* The thread waited for others: whatever is open is closed, and opened anew by the next access. */
void unit_split(struct model *model, uint32_t thread);
/* The thread gave back a lock that it had since then: calls that began later, without having taken it, are
 * split as by waiting. Returns the level of the outermost of them; UINT32_MAX: there are none. */
uint32_t unit_gave_back(struct model *model, struct thread *thread, uint64_t since);
/* It takes a lock, which makes loops around it synchronising ones. */
void unit_synchronises(struct model *model, uint32_t thread);
void unit_end(struct model *model, uint32_t unit);
/* Ends what is open of a frame or bracket, which goes on. */
void unit_close_all(struct model *model, uint32_t *list, uint64_t *serial);
/* Both sets are roots: what is open on `from` is from now on open on `to`. */
void unit_merge(struct model *model, uint32_t from, uint32_t to);
static inline uint32_t unit_context(const struct thread *thread)
{
	return thread->depth ? thread->frames[thread->depth - 1].context : 0;
}
void unit_object(struct model *model, uint32_t thread, uint64_t address, uint64_t size, uint32_t site);
/* If the object is on the stack of one of the thread's functions, that is a unit for the set: it works on a
 * container with a cursor of its own. */
bool unit_cursor_user(struct model *model, struct thread *thread, uint64_t object, uint32_t set);

/* entire.c */
/* The thread's topmost frame is new. */
void entire_entered(struct model *model, struct thread *thread);
/* In the outermost call something is not part of it. */
void entire_not(struct model *model, struct thread *thread);
/* The outermost call is left. */
void entire_settle(struct model *model, struct thread *thread);
/* Another thread has come to what the outermost call has touched, and its own has not told of
 * (TRACE_OP_TOUCHED). */
void entire_touched(struct model *model, const struct trace_event *event);
/* A unit begins: it is this frame. */
void entire_doubt(struct model *model, struct thread *thread, uint32_t root);
static inline void entire_unit(struct model *model, struct thread *thread, uint32_t frame, uint32_t root)
{
	if (model->options.entire && thread->outer && frame + 1 != thread->outer)
		entire_doubt(model, thread, root);
}

/* brackets.c */
void bracket_begin(struct model *model, uint32_t thread, uint64_t name, uint32_t rule);
void bracket_end(struct model *model, uint32_t thread, uint64_t name);
/* Is it a unit for the set (a root)? */
bool bracket_on(struct model *model, const struct thread *thread, uint32_t bracket, uint32_t root);
/* The function of this level was called with a receiver, under a lock: is that part of what its caller does
 * to the receiver? */
void bracket_called(struct model *model, struct thread *thread, uint32_t depth);
/* A lock is given up. */
void bracket_unlocked(struct model *model, struct thread *thread, uint64_t lock);
/* The frames that are left are all that there are. */
void bracket_left(struct model *model, struct thread *thread);
/* Units of critical sections that go over this many frames or more end. */
void bracket_close(struct model *model, struct thread *thread, uint32_t depth);

/* held.c */
void held_lock(struct model *model, struct thread *thread, const struct trace_event *event, uint64_t address);
void held_unlock(struct model *model, struct thread *thread, uint64_t address);
uint32_t held_set_new(struct model *model, struct thread *thread);
static inline uint32_t held_set(struct model *model, struct thread *thread)
{
	return __builtin_expect(thread->locks_dirty, 0) ? held_set_new(model, thread) : thread->locks;
}
/* True if the thread waited for another one's post, not for a lock. */
bool held_semaphore_wait(struct model *model, struct thread *thread, uint64_t address);
void held_semaphore_post(struct model *model, struct thread *thread, uint64_t address);
void held_release(struct model *model);

/* counters.c */
void counters_note(struct model *model, struct thread *thread, const struct place *place, uint64_t address);

/* together.c */
bool together_note(struct model *model, struct thread *thread, uint32_t site, const struct place *place,
		   uint64_t size, bool reads, bool writes);
/* The bytes of a whole struct, or of more than a member of it. */
void together_whole(struct model *model, struct thread *thread, uint16_t type, bool reads, bool writes);
/* These bytes of the struct have a second name, of another struct that lies there: of which members they are
 * told together nobody knows. */
void together_mixed(struct model *model, uint16_t type, uint64_t from, uint64_t bytes);
/* Locks are taken or given up: what comes does not belong to what was. */
void together_end(struct model *model, struct thread *thread);
void together_release(struct model *model);

#endif
