/* remote_free.pml: the hand-over, announcement, release and adoption of slabs, for every order of
 * steps that threads can take (Promela; run by tests/model).
 *
 * The code is alloc/core/remote_free.cpp, heap.cpp (serve_announcements) and thread_heap.cpp
 * (make_orphan, serve_if_orphan, adopt_slab). Blocks are counted, not linked: what is at stake is who
 * may touch a slab, not how lists are joined. A step that is one atomic instruction there is one
 * atomic step here. The model is sequentially consistent; weaker orders are argued in CONCURRENCY.md.
 *
 * Two slabs, two heaps. The thread of heap 0 owns both slabs at first, frees blocks of its own in
 * between, and ends; heap 1's thread adopts them one by one; freers give one block back each.
 * Checked: no freer ever meets a released slab; a slab is in one stack at most, once; nobody acts for
 * a heap that somebody else holds; no announcement is left in an orphan that nobody serves; in the
 * end every block is home and every slab released. Each mutant takes one precaution away and must be
 * caught.
 * SPDX-License-Identifier: MIT */

#define SLABS 2
#ifndef FREERS
#define FREERS 2
#endif

mtype = { OWNED, ORPHAN, SERVED };

byte chain[SLABS];        /* slab.remote: blocks in the chain ...                     */
bool flag[SLABS];         /* ... and ANNOUNCED, in the same word                      */
byte owner[SLABS];        /* slab.owner                                               */
byte live[SLABS];         /* the owner's count: blocks not home, the chain's included */
bool released[SLABS];     /* back in the store: nobody may touch it                   */
bool announced[4];        /* heap h's stack holds slab s: at 2 * h + s                */
mtype state[2] = OWNED;
byte finished = 0;        /* freers and the first thread */
bool inside[2];           /* for checking only: somebody acts as the holder of heap h */

#define waiting(h) (announced[2 * (h)] || announced[2 * (h) + 1])

/* Which slab freer i gives a block of: one slab each, or all the same one. */
#ifdef FREERS_MEET
#define SLAB_OF(i) 0
#else
#define SLAB_OF(i) ((i) % SLABS)
#endif

/* Push a slab, whose flag is up, onto the stack of the owner it has now. The read may be stale by
 * the time of the push. */
inline push(s, o) {
  o = owner[s];
  atomic { assert(!released[s]); assert(!announced[2 * o + s]); announced[2 * o + s] = true }
}

inline release_if_empty(s) {
#ifdef MUTANT_RELEASE_WHILE_ANNOUNCED
  atomic { if :: live[s] == 0 && !released[s] -> released[s] = true :: else fi }
#else
  atomic { if :: live[s] == 0 && !flag[s] && !released[s] -> released[s] = true :: else fi }
#endif
}

/* The owner's refill: takes the chain of its current slab, and leaves the flag. */
inline drain(s) {
  atomic {
    assert(!inside[owner[s]]);
    live[s] = live[s] - chain[s]; chain[s] = 0
#ifdef MUTANT_DRAIN_LOWERS_THE_FLAG
    ; flag[s] = false
#endif
  }
}

/* serve_announcements of one slab that was on heap h's stack. */
inline serve_one(h, s, o) {
  if
  :: owner[s] == h ->
       atomic { flag[s] = false; live[s] = live[s] - chain[s]; chain[s] = 0 }
       release_if_empty(s)
  :: else ->
#ifdef MUTANT_STALE_IS_DROPPED
       skip
#else
       push(s, o)
#endif
  fi
}

/* serve_announcements: takes the whole stack in one exchange. */
inline serve(h, o, took_0, took_1) {
  atomic {
    assert(!inside[h]); inside[h] = true;
    took_0 = announced[2 * h]; announced[2 * h] = false;
    took_1 = announced[2 * h + 1]; announced[2 * h + 1] = false
  }
  if :: took_0 -> serve_one(h, 0, o) :: else fi;
  if :: took_1 -> serve_one(h, 1, o) :: else fi;
  atomic { inside[h] = false; o = 0; took_0 = false; took_1 = false }  /* clears dead variables */
}

inline seize(h, won) {
  atomic { won = (state[h] == ORPHAN); if :: won -> state[h] = SERVED :: else fi }
}

/* serve_if_orphan: the load of the state and that of the stack are two steps. */
inline serve_if_orphan(h, o, won, took_0, took_1) {
  do
  :: state[h] == ORPHAN ->
       if
       :: waiting(h) ->
            seize(h, won);
            if
            :: won -> serve(h, o, took_0, took_1); state[h] = ORPHAN
            :: else -> break
            fi
#ifdef MUTANT_SERVER_LOOKS_ONCE
            ; break
#endif
       :: else -> break
       fi
  :: else -> break
  od
}

proctype freer(byte slab) {
  byte heap, target; bool mine, held, has_0, has_1;
  atomic { assert(!released[slab]); chain[slab]++; mine = !flag[slab]; flag[slab] = true }
  if
  :: mine ->
       push(slab, heap);
#ifndef MUTANT_FREER_LEAVES_ORPHANS
       serve_if_orphan(heap, target, held, has_0, has_1)
#endif
  :: else
  fi;
  finished++
}

proctype first_thread() {
  byte target; bool held, has_0, has_1; bool freed[SLABS];
  do
  :: !freed[0] -> freed[0] = true; live[0]--; release_if_empty(0)
  :: !freed[1] -> freed[1] = true; live[1]--; release_if_empty(1)
  :: chain[0] > 0 -> drain(0); release_if_empty(0)
  :: chain[1] > 0 -> drain(1); release_if_empty(1)
  :: waiting(0) -> serve(0, target, has_0, has_1)
  :: freed[0] && freed[1] -> break
  od;
  /* make_orphan */
  serve(0, target, has_0, has_1);
  release_if_empty(0); release_if_empty(1);
  state[0] = ORPHAN;
#ifndef MUTANT_LAST_LOOK_LEFT_OUT
  serve_if_orphan(0, target, held, has_0, has_1);
#endif
  finished++
}

/* adopt_slab: holds the orphan, serves it, takes one slab, lets go, looks again. */
inline adopt(s) {
#ifdef MUTANT_ADOPTS_WITHOUT_HOLDING
  held = true;
#else
  seize(0, held);
#endif
  if
  :: held ->
       serve(0, target, has_0, has_1);
       if :: owner[s] == 0 && !released[s] -> owner[s] = 1 :: else fi;
#ifndef MUTANT_ADOPTS_WITHOUT_HOLDING
       state[0] = ORPHAN;
#endif
       serve_if_orphan(0, target, held, has_0, has_1)
  :: else
  fi
}

proctype second_thread() {
  byte target; bool held, has_0, has_1;
  do
  :: owner[0] == 0 && !released[0] -> adopt(0)
  :: owner[1] == 0 && !released[1] -> adopt(1)
  :: owner[0] == 1 && chain[0] > 0 -> drain(0); release_if_empty(0)
  :: owner[1] == 1 && chain[1] > 0 -> drain(1); release_if_empty(1)
  :: waiting(1) -> serve(1, target, has_0, has_1)
  :: finished == FREERS + 1 -> break
  od;
  assert(state[0] == ORPHAN && !waiting(0));  /* nothing is left where nobody looks */
  serve(1, target, has_0, has_1);
  /* collect_orphans, and the end of this thread's own slabs */
  release_if_empty(0); release_if_empty(1);
  assert(!waiting(1));
  assert(chain[0] == 0 && live[0] == 0 && released[0]);
  assert(chain[1] == 0 && live[1] == 0 && released[1])
}

init {
  byte i;
  atomic {
    live[0] = 1; live[1] = 1;  /* one block each that the first thread holds itself */
    for (i : 0 .. FREERS - 1) { live[SLAB_OF(i)]++; run freer(SLAB_OF(i)) }
    run first_thread();
    run second_thread()
  }
}
