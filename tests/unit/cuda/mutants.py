#!/usr/bin/env python3
# mutants.py: bugs put into the device allocator one at a time, to show that its tests would find them.
#
#   mutants.py SOURCE BUILD        builds each mutant from BUILD's commands and runs the tests on it
#   mutants.py SOURCE --check      only looks whether each still fits the source; a test does so
#
# A mutant is one replacement in one file. It is caught if a test program fails, crashes or hangs.
# SPDX-License-Identifier: MIT
import json
import os
import shlex
import subprocess
import sys
import tempfile

PROGRAMS = ["cuda_allocator_test", "cuda_allocator_life_test", "cuda_allocator_random_test", "cuda_capture_pools_test", "cuda_pinned_cache_test"]

HEAP = "cuda/heap/central_heap.cpp"
MOVES = "cuda/heap/page_moves.cpp"
FREE = "cuda/policy/deallocate.cpp"
STREAMS = "cuda/policy/streams.cpp"
LINES = "cuda/timeline/timelines.cpp"
EVENTS = "cuda/timeline/timeline_events.cpp"
PRESSURE = "cuda/policy/pressure.cpp"
LADDER = "cuda/policy/ladder.cpp"
POOLS = "cuda/policy/capture_pools.cpp"
POOLED = "cuda/policy/capture_blocks.cpp"
CAPTURES = "cuda/capture/captures.cpp"
PINNED = "cuda/pinned/pinned_blocks.cpp"
PINNED_MEMORY = "cuda/pinned/pinned_memory.cpp"
SLABS = "cuda/pinned/slab_table.cpp"

# Name, file, what is there, what is put there instead.
MUTANTS = [
    ("a stream that is gone has the waits of the next one at its place", LINES,
     "if (lines_[user.place].turn != user.turn) return false;", ""),
    ("the rest of a page forgets what its block waited for", HEAP,
     "const BlockIndex page = cut_out(index, region_request(request));",
     "const BlockIndex page = cut(index, region_request(request));"),
    ("other streams' blocks are taken as they are", HEAP,
     "if (!is_ordered(user, block.stamp)) return false;", ""),
    ("what is not complete counts as past", HEAP,
     "if (block.is_in_graphs || !is_past(block.stamp)) return false;", ""),
    ("uses on third streams are not asked about", HEAP,
     "if (!is_ordered(user, {use.stream, use.epoch})) return false;", ""),
    ("a joined block keeps the earlier stamp", HEAP,
     "if (lane_of(front) == kPastLane || is_later) front.stamp = back.stamp;", ""),
    ("blocks of different streams are joined", HEAP,
     "return lanes[0] == lanes[1] || lanes[0] == kPastLane || lanes[1] == kPastLane;", "return true;"),
    ("a pass over past blocks leaves out what they were joined with", HEAP,
     "while (BlockTable::state_of(blocks_[index]) == BlockState::kFree &&",
     "if (BlockTable::state_of(blocks_[index]) == BlockState::kFree &&"),
    ("a block is not taken out of its list when it is cut", HEAP,
     "DREY_ASSERT(gap != UINT32_MAX);\n  remove(index);", ""),
    ("a hole that got no memory is lost", MOVES,
     "  if (*result != Result::kSuccess) {\n    add(join_holes(index));\n    return kNoBlock;",
     "  if (*result != Result::kSuccess) {\n    return kNoBlock;"),
    ("new memory is joined with whatever is beside it", MOVES,
     "  add(index);\n  const BlockIndex taken", "  index = give_back(index, 0);\n  const BlockIndex taken"),
    ("pages that the driver kept are taken for a hole", MOVES,
     "  if (result != Result::kSuccess) {\n    give_back(lost, blocks_[lost].freed_ms);\n    return result;\n  }", ""),
    ("memory is freed as if it were past", FREE,
     "block.stamp = timelines.now(stream);", "block.stamp = kPastStamp;"),
    ("record_stream is ignored", FREE,
     "use.epoch = timelines.now(use.stream).epoch;", "use.epoch = 0;"),
    ("record_stream ends when it is called", FREE,
     "is_precise ? now.epoch : Use::kUntilFree", "now.epoch"),
    ("recorded uses are dropped by every free", FREE,
     "if (!is_needed) blocks.drop_uses(block);", "blocks.drop_uses(block);"),
    ("blocks used elsewhere go into magazines", FREE,
     "block.size_class == kNoClass || block.uses != 0 ||", "block.size_class == kNoClass ||"),
    ("a block freed in another stream stays its first stream's", FREE,
     "  block.stamp.stream = stream;\n  block.next = slot.head;", "  block.next = slot.head;"),
    ("a magazine's blocks come back as another stream's", FREE,
     "timelines.now(magazine.stream);", "timelines.now(timelines.stream_at(0));"),
    ("sizes are not compared", FREE,
     "if (bytes != nullptr && *bytes != block.requested) return misused(Status::kWrongSize);", ""),
    ("misuse of a dead block is recorded", FREE,
     "BlockTable::state_of(heap.blocks()[index]) != BlockState::kLive)", "false)"),
    ("a retired stream's handle is remembered", STREAMS, "cache->forget(*magazine);", ""),
    ("a retired stream's blocks are lost", STREAMS,
     "      flush_slot(*cache, *magazine, index, 0);\n    cache->forget", "      static_cast<void>(index);\n    cache->forget"),
    ("a handle is taken for a stream", STREAMS,
     "if (cache != nullptr && !config.asks_stream_ids)", "if (cache != nullptr)"),
    ("a wait is not inserted", LINES,
     "driver_->stream_wait_event(lines_[user.place].handle, event.event, 0);", "Result::kSuccess;"),
    ("a wait is taken for more than it is", LINES,
     "note_wait(user, {stamp.stream, event.epoch});", "note_wait(user, {stamp.stream, event.epoch + 1});"),
    ("a question is taken for an answer", LINES,
     "if (result == Result::kNotReady) break;\n      if (result != Result::kSuccess) return result;", ""),
    ("the host does not wait", LINES,
     "driver_->event_synchronize(event.event);", "Result::kSuccess;"),
    ("a stream's place is used again before it is past", LINES,
     "if (line.is_gone && !line.is_lost && line.complete == last_stamped(line))", "if (line.is_gone && !line.is_lost)"),
    ("an event is asked that was never recorded", EVENTS,
     "driver_->event_record(events_[index].event, line.handle);", "Result::kSuccess;"),
    ("an event covers what comes after it", EVENTS,
     "events_[index].epoch = covered;", "events_[index].epoch = covered + 1;"),
    ("an event is recorded in whatever stream has the handle", EVENTS,
     "const Result checked = check_can_record(line);", "const Result checked = Result::kSuccess;"),
    ("the device is not waited for", EVENTS,
     "const Result result = driver_->ctx_synchronize();", "const Result result = Result::kSuccess;"),
    ("other threads' magazines are left alone under pressure", PRESSURE,
     "climb.gained[number_of(LadderStep::kFlush)] += flush_all();", ""),
    ("pages are not moved", PRESSURE,
     "if (heap.idle_pages(place) < wanted) return kNoBlock;", "return kNoBlock;"),
    ("nothing is waited for", PRESSURE,
     "index = wait_for_pending(climb);", "index = kNoBlock;"),
    ("headroom is not kept", LADDER,
     "if (missing > room_pages(missing)) return kNoBlock;", ""),
    ("pages are mapped without access", "cuda/pages/page_store.cpp",
     "  if (result == Result::kSuccess) result = set_access(range);\n  if (result != Result::kSuccess) undo_map({range.first, page - range.first}, before);\n  return result;\n}\n\nvoid PageStore::undo_map",
     "  if (result != Result::kSuccess) undo_map({range.first, page - range.first}, before);\n  return result;\n}\n\nvoid PageStore::undo_map"),
    ("sleep does not wait for the device", "cuda/policy/trim.cpp",
     "if (result == Result::kSuccess) result = timelines.complete_all();", ""),
    ("a thread that ends takes its blocks with it", "cuda/policy/open_close.cpp",
     "    flush(cache);\n    is_epoch_due_ = false;", "    is_epoch_due_ = false;"),
    ("a magazine is refilled with what is not past", "cuda/policy/allocate.cpp",
     "heap.take(climb.request, Reach::kOwn, kScanMax);", "heap.take(climb.request, Reach::kAny, kScanMax);"),
    ("a block keeps the stream of its last life", "cuda/policy/allocate.cpp",
     "  block.stamp = {climb.request.stream, 0};\n  block.requested", "  block.requested"),
    ("memory of graphs is anybody's of the pool", HEAP,
     "if (block.is_in_graphs && !is_slot(user)) return false;", ""),
    ("a capture takes what is only ordered", HEAP,
     "return is_slot(user) ? timelines_.is_past(stamp) : timelines_.is_ordered(user, stamp);",
     "return is_slot(user) ? true : timelines_.is_ordered(user, stamp);"),
    ("pools are joined with each other", HEAP,
     "if (front.pool != back.pool || front.is_in_graphs != back.is_in_graphs) return false;", ""),
    ("a pool is emptied while its graphs are there", POOLS,
     "if (--pool.uses != 0) return;", "if (--pool.uses > 1) return;"),
    ("replays that may still run are not waited for", POOLS,
     "if (scope.need() != Result::kSuccess || timelines.complete_all() != Result::kSuccess) return;", ""),
    ("where the last replay ends is forgotten", POOLS,
     "if (emptying.after != nullptr && block.is_in_graphs) {", "if (false) {"),
    ("a graph's blocks are free for all after its capture", POOLS,
     "if (is_touched && block.pool == settling.kept_pool) block.is_in_graphs = true;", ""),
    ("an abort leaves the pool's use", POOLS,
     "  } else {\n    drop_use(number, scope, nullptr);\n  }", "  }"),
    ("an abort leaves the capture", POOLS,
     "  captures.remove(serial);\n", ""),
    ("events are asked for ever after a capture's begin", POOLS,
     "  timelines.capture_ended();\n", ""),
    ("pools are emptied during captures", POOLS,
     "const bool may_empty = captures.count() == 0 && (", "const bool may_empty = ("),
    ("branches of a graph need no order", CAPTURES,
     "    if (!captures_[capture_of(user)].ancestors.has(nodes_[point.first + index], number_of(user)))\n      return false;", ""),
    ("a stream's replaced dependencies go unnoticed", CAPTURES,
     "if (walk(capture, number, tail, before) != before.count) return false;",
     "static_cast<void>(walk(capture, number, tail, before));"),
    ("a recorded use in a capture ends when it is recorded", FREE,
     "if (!heap.blocks().add_use(block, stream, is_precise ? now.epoch : Use::kUntilFree))",
     "if (!heap.blocks().add_use(block, stream, is_slot(stream) || is_precise ? now.epoch : Use::kUntilFree))"),
    ("growing breaks captures", "cuda/policy/allocate.cpp",
     "DriverScope scope(*driver_, context_, captures.count() != 0);", "DriverScope scope(*driver_, context_);"),
    ("use when out of memory takes what graphs use", POOLED,
     "bool is_captured = block.is_in_graphs || is_slot(block.stamp.stream);", "bool is_captured = is_slot(block.stamp.stream);"),
    ("the driver is called while the process ends", "cuda/policy/open_close.cpp",
     "if (is_closing_ || cache_registry::is_exiting()) return {Status::kClosed};", "if (is_closing_) return {Status::kClosed};"),
    ("pinned: the host gets what a stream still uses", PINNED,
     "if (!timelines_.is_past(block.stamps[place])) return false;", ""),
    ("pinned: another stream gets what is not ordered", PINNED,
     "if (!timelines_.is_ordered(user, block.stamps[place])) return false;", ""),
    ("pinned: a block forgets what it waited for when it is handed to a stream", PINNED_MEMORY,
     "  block.stream = need.user;\n", "  block.stream = need.user;\n  block.stamp_count = 0;\n"),
    ("pinned: a recorded use lasts until the free", PINNED,
     "  const Result closed = timelines_.close_epoch(stream);\n  if (closed", "  const Result closed = Result::kSuccess;\n  if (closed"),
    ("pinned: a free keeps only one stream", PINNED,
     "if (!is_same && !timelines_.is_past(old)) block.stamps[kept++] = old;", ""),
    ("pinned: an event is recorded into a capture", PINNED_MEMORY,
     "if (allowed.status == Status::kCaptureForbids) continue;", ""),
    ("pinned: an allocation fails without a wait", PINNED_MEMORY,
     "result = wait_for_pending();", "break;"),
    ("pinned: a slab that is used counts as idle", SLABS,
     "if (++slab.past_count == slab.block_count) append", "if (++slab.past_count == 1) append"),
]


def mutated(source, name, file, old, new):
    with open(os.path.join(source, file), encoding="utf-8") as text:
        before = text.read()
    if before.count(old) != 1:
        raise SystemExit(f"{file}: expected once, found {before.count(old)} times: {old!r} ({name})")
    return before.replace(old, new)


def compile_of(build, source, file):
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as text:
        commands = json.load(text)
    path = os.path.realpath(os.path.join(source, file))
    for entry in commands:
        if os.path.realpath(entry["file"]) == path:
            return entry
    raise SystemExit(f"{build}: no command for {file}")


def run(command, folder, seconds):
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return None
    return done


def is_caught(source, build, mutant, folder):
    name, file, old, new = mutant
    path = os.path.join(folder, os.path.basename(file))
    with open(path, "w", encoding="utf-8") as text:
        text.write(mutated(source, name, file, old, new))
    entry = compile_of(build, source, file)
    words = shlex.split(entry["command"])
    output = words[words.index("-o") + 1]
    words[words.index("-o") + 1] = os.path.join(folder, "mutant.o")
    words[words.index("-c") + 1] = path
    made = run(words + ["-w"], entry["directory"], 300)
    if made is None or made.returncode != 0:
        raise SystemExit(f"does not compile: {name}\n{made.stderr if made else ''}")
    library = os.path.join(folder, "libdrey_cuda.a")
    run(["cp", os.path.join(build, "lib", "libdrey_cuda.a"), library], folder, 60)
    run(["ar", "d", library, os.path.basename(output)], folder, 60)
    run(["ar", "r", library, "mutant.o"], folder, 60)
    for program in PROGRAMS:
        objects = [os.path.join(root, name) for root, _, names in os.walk(os.path.join(build, "tests", "unit"))
                   if root.split(os.sep)[-1] == f"{program}.dir" for name in names if name.endswith(".o")]
        binary = os.path.join(folder, program)
        linked = run(["c++", "-o", binary, *objects, os.path.join(build, "lib", "libdrey_cuda_sim.a"), library,
                      os.path.join(build, "lib", "libdrey_base.a"), "-lgtest", "-lgtest_main", "-ldl", "-pthread"],
                     folder, 120)
        if linked is None or linked.returncode != 0:
            raise SystemExit(f"does not link: {name}\n{linked.stderr if linked else ''}")
        done = run([binary, "--gtest_break_on_failure"], folder, 60)
        if done is None:
            return f"{program} hangs"
        if done.returncode != 0:
            lines = [line for line in done.stdout.splitlines() if line.startswith("[ RUN")]
            return f"{program}: {lines[-1][12:] if lines else 'crash'}"
    return None


def main():
    if len(sys.argv) < 3:
        raise SystemExit("usage: mutants.py SOURCE (BUILD | --check) [WORD]")
    source = os.path.abspath(sys.argv[1])
    if sys.argv[2] == "--check":
        for mutant in MUTANTS:
            mutated(source, *mutant)
        print(f"{len(MUTANTS)} mutants fit the source")
        return
    chosen = [mutant for mutant in MUTANTS if len(sys.argv) < 4 or sys.argv[3] in mutant[0]]
    missed = 0
    for mutant in chosen:
        with tempfile.TemporaryDirectory() as folder:
            caught = is_caught(source, os.path.abspath(sys.argv[2]), mutant, folder)
        missed += caught is None
        print(f"{'caught' if caught else 'MISSED'}  {mutant[0]}: {caught or 'every test passes'}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} caught")
    sys.exit(1 if missed else 0)


main()
