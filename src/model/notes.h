/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What is kept from the sink as long as nobody can tell the difference. To an
 * engine an access is news only if another unit, one that still matters, has
 * been at the same bytes; most never are. So what a unit does is noted down
 * (notes.c): its first read and its first write of each byte, for an engine needs
 * no more. The cell has the unit's *mark* and the bytes that it noted.
 *
 * As long as units are alone on their set the sink does not even know that they
 * are there (quiet.c). From then on it does, and of what they do it hears when
 * another unit comes to a cell with the mark of one that is open, or when one ends
 * and matters (private.c). Either way it then hears of all that the unit noted.
 *
 * Notes are a stack beside the thread's frames: a frame that is left takes its
 * notes along unless a unit further out has some among them, which the lowest
 * *level* tells: frame i is on level i + 1, and brackets, which go with no frame,
 * on 0.
 */
#ifndef ATOMSAN_MODEL_NOTES_H
#define ATOMSAN_MODEL_NOTES_H

#include "model/memory.h"

struct accessor;
struct model;
struct place;
struct thread;
struct whole;

/* Whose notes they are. */
struct log {
	uint32_t number; /* its own, also of those that one frame has one after the other; see notes_renumber
			  */
	uint32_t frame;
	uint32_t notes; /* its latest note, plus one; 0: it has none */
	bool barred;    /* some say that bytes are no more */
	bool ordered;   /* of an iteration: what it read first is asked for */
	uint8_t first;  /* see tidy.c */
	uint8_t asked;  /* how often it was looked through for the bytes of a cell; see private.c */
};

/* A unit that the sink does not know of; see quiet.c. */
struct noted {
	uint64_t serial; /* of the frame that is the unit, when it began; 0: none */
	uint64_t begin;
	struct log log;
	uint32_t thread;
	uint32_t next; /* in model.noted; free list, too */
	uint8_t rule;
	bool writes;
	bool shared;  /* another one was on the set at the same time: a cell may have the mark of both */
	bool jotted;  /* accesses of it may be jotted down and not noted; see jots.c */
	bool settled; /* and are no longer, for it had to be looked at */
};

/* Accesses of a unit: one, or several from the same place to neighbouring bytes or at equal distances. Or
 * that bytes stopped being what they were. */
struct note {
	uint64_t address;   /* of the first access; of the granule */
	uint64_t time : 60; /* of the first access */
	uint64_t reads : 1, writes : 1, claims : 1;
	uint64_t stays : 1; /* of nothing, but it is a note */
	uint64_t some;      /* not 0: a bit for each of the accesses meant, wholly; the others are none. Of
			     * bytes that are no more, a bit for each. */
	uint32_t from, to;  /* the bytes meant, counted from there; `to` is 0 for bytes that are no more */
	uint32_t size;      /* of each access */
	uint32_t site, context, locks;
	uint32_t set;
	uint32_t previous; /* of the unit, plus one */
	uint32_t unit;     /* the log's number */
	uint32_t epoch;    /* the thread's */
};
_Static_assert(sizeof(struct note) == 64, "there are many");

/* Where bytes lie, at most, that are no more. */
struct notes_bars {
	uint64_t lowest, most; /* addresses; `most` is 0 if there are none */
};

static inline void notes_bars_add(struct notes_bars *bars, const struct note *note)
{
	uint64_t end = note->address + 64 - (unsigned)__builtin_clzll(note->some);

	if (!bars->most || note->address < bars->lowest)
		bars->lowest = note->address;
	if (end > bars->most)
		bars->most = end;
}

static inline uint32_t log_mark(const struct log *log)
{
	return CELL_MARK | log->number;
}

/* Of how many places in the source, or nearly, the latest notes of a thread are remembered. */
#define NOTES_STREAMS 32u

/*
 * Bytes that a log has notes of as read, where the cell cannot say so since it has
 * the mark of several units: the latest ones, by where they lie. What many read, the
 * head of a table, is read again and again.
 */
struct notes_seen {
	uint64_t granule;
	uint32_t log;
	uint8_t bytes;
};
#define NOTES_SEEN_BITS 10
#define NOTES_SEEN (1u << NOTES_SEEN_BITS)

/* notes.c */
struct log notes_begin(struct model *model, uint32_t frame);
/* Where there is no room for one more (notes_inl.h): it is made, for which the sink may have to be told
 * everything. */
void notes_make_room(struct model *model, struct thread *thread);
/* Room for more, and nothing else. */
void notes_grow(struct thread *thread);
/* The log that the note is in; NULL if the unit has ended, or was told. */
struct log *notes_log(struct model *model, struct thread *thread, const struct note *note);
/* Notes that these bytes of a granule are accessed. There is room. */
void notes_add(struct model *model, struct log *log, uint32_t root, const struct accessor *who,
	       uint64_t granule, uint8_t bytes);
/* And that the cell's bytes, whatever they had before, have the log's mark. */
void notes_mark(struct model *model, struct cell *cell, const struct log *log, const struct accessor *who,
		uint8_t bytes);
/* Notes were taken that these bytes, of a cell with the mark of several units, are read. */
void notes_see(struct thread *thread, const struct log *log, uint64_t granule, uint8_t bytes);
/* Bytes are no more. */
void notes_bar(struct model *model, uint32_t thread, struct log *log, uint32_t root, uint64_t granule,
	       uint8_t mask);
/* The sink hears of it all. The unit is open, and the sink knows of it. */
void notes_tell(struct model *model, uint32_t thread, uint32_t root, struct log *log);
/* The same of some bytes of the granules from one address to another, and no more. The log has no notes of
 * them afterwards. */
void notes_tell_bytes(struct model *model, uint32_t thread, uint32_t root, struct log *log, uint64_t low,
		      uint64_t high, uint8_t mask);
/* All of a unit that has ended, with notes of its own. */
void notes_tell_ended(struct model *model, uint32_t thread, uint32_t root, const struct log *log,
		      const struct note *notes, uint32_t unit);
/* Of some bytes of it, as above; but the log is as it was. True if there was anything. */
bool notes_tell_ended_bytes(struct model *model, uint32_t thread, uint32_t root, const struct log *log,
			    const struct note *notes, uint32_t unit, uint64_t low, uint64_t high,
			    uint8_t mask);
/* The set became part of another. */
void notes_move(struct model *model, uint32_t thread, const struct log *log, uint32_t root);
/* An iteration remembers what it has read, as if the sink had been told. */
void notes_remember(struct model *model, uint32_t thread, uint32_t root, const struct log *log);
/* Gives marks that are of no use any more back, before they run out. No access is under way. */
void notes_renumber(struct model *model);
/* A frame is left: its notes are of no more use. */
void notes_left(struct thread *thread, uint32_t frame);
/* The thread has left all of them, and most likely has ended. */
void notes_over(struct thread *thread);
void notes_release(struct model *model);
/* gather.c */
/* Does an earlier note take these bytes up? If not, one that does must be the next. */
bool notes_gather(struct thread *thread, const struct log *log, uint32_t root, const struct accessor *who,
		  uint64_t at, uint64_t stop);
/* tidy.c */
/* Makes those from this number on fewer, or all. */
void notes_tidy(struct model *model, struct thread *thread, uint32_t from);

/* jots.c */
/* Accesses to the set, by itself, are jotted down, and there is room for one: its unit begins if it is not
 * open. False: they cannot be. */
bool jots_begin(struct model *model, const struct accessor *who, const struct place *place, uint32_t set);
/* The access to all of these bytes of a granule, which are the set's, is jotted down. The sink knows nothing
 * of them. False: it cannot be. */
bool jots_add(struct model *model, struct noted *noted, const struct accessor *who, uint64_t granule,
	      uint8_t bytes);
/* What the thread, or units on the set (a root), jotted down becomes notes. Cells stay where they are. */
void jots_settle_thread(struct model *model, struct thread *thread);
void jots_settle_set(struct model *model, uint32_t root);
/* A frame is left; the thread has left all of them: as notes_left and notes_over. */
void jots_left(struct thread *thread, uint32_t frame);
void jots_over(struct thread *thread);
/* quiet.c */
/* The open unit that is noted down for the set (a root) and the thread; NULL: none. */
struct noted *quiet_noted(struct model *model, uint32_t root, uint32_t thread);
/* Notes that these bytes of a granule, all of them in the cell, are accessed, unless another thread's unit is
 * open on the set. False: the set is loud now, or the sink was told of something else. */
bool quiet_access(struct model *model, struct cell *cell, uint32_t root, const struct accessor *who,
		  uint64_t granule, uint8_t bytes);
/* Is the mark that of a unit noted down for the set, and open, or of all of them? */
bool quiet_mark(struct model *model, uint32_t root, uint32_t mark);
/* The frame becomes a unit for the set, without having done anything yet. False: the set is loud. */
bool quiet_begin(struct model *model, uint32_t thread, uint32_t frame, uint32_t root, uint32_t rule);
/* The thread's unit on a quiet set on which there is no other: it begins. NULL: the access stands alone. */
struct noted *quiet_only(struct model *model, uint32_t thread, uint32_t root);
/* The sink hears of the units that are noted down for the set (a root), and of all others from now on. */
void quiet_end(struct model *model, uint32_t root);
/* The bytes of a cell of the set are forgotten. */
void quiet_forget(struct model *model, uint32_t set, uint64_t granule, const struct cell *cell);
/* The set is no more. */
void quiet_drop(struct model *model, struct whole *set);

/* private.c */
/* Where so many more units' notes were told than dropped, noting is work done twice. */
#define PRIVATE_WASTED 4
/* So many notes are many. */
#define PRIVATE_MANY 64
/* The same for a set that is loud. False: the sink must hear of it, or, if it was told of another unit, all
 * is to be looked up again. */
bool private_access(struct model *model, struct cell *cell, uint32_t root, const struct accessor *who,
		    uint64_t granule, uint8_t bytes);
/* The sink hears of all that the units on the set have done. */
void private_tell_all(struct model *model, uint32_t root);
/* Of what those that have ended have done, and of the others if it is the same that they read. */
void private_tell_set(struct model *model, uint32_t root);
/* The mark of cells that several units of the set have read. */
uint32_t private_reading(struct model *model, uint32_t root);
/* No unit is open on the set any more, or what they did was told. */
void private_alone(struct model *model, uint32_t root);
/* The sink hears of all that the unit has done. */
void private_tell(struct model *model, uint32_t unit);
/* The unit is about to end: what it did may matter. Then it is kept, or told. */
void private_end(struct model *model, uint32_t unit, bool keep);
/* What it did is gone. */
void private_drop(struct model *model, uint32_t unit);

/* kept.c */
#define KEPT_MARK 0x40000000u
/* Keeps the notes of a unit that is about to end, which has some. False: it has to be told. */
bool kept_add(struct model *model, uint32_t unit);
/* Are units kept for the set (a root)? */
bool kept_on(const struct model *model, uint32_t root);
/* The sink hears of it. Where units on the set read the same, see private_tell_set. */
void kept_tell(struct model *model, uint32_t index);
void kept_tell_set(struct model *model, uint32_t root);
/* The most notes that one on the set has, or UINT32_MAX if one was asked for bytes as often as this. */
uint32_t kept_longest(const struct model *model, uint32_t root, uint32_t times);
/* The sink hears of some bytes of the granules from one address to another, as far as any on the set has
 * noted them, and no more. */
void kept_tell_some(struct model *model, uint32_t root, uint64_t low, uint64_t high, uint8_t mask);
/* No unit on the set matters any more. */
void kept_drop_set(struct model *model, uint32_t root);
/* The sink hears of all that are about some of these bytes. True if it did. */
bool kept_tell_bytes(struct model *model, uint64_t start, uint64_t end);
void kept_release(struct model *model);

#endif
