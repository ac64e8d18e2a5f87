// snapshot_test.cpp: Python's own pickle reads a snapshot, and finds in it what PyTorch's viewer looks
// for; the statistics are JSON with PyTorch's names. Skipped without python3.
// SPDX-License-Identifier: MIT
#include <drey/cuda/trace/pickle_text.hpp>
#include <drey/cuda/trace/snapshot.hpp>
#include <drey/cuda/trace/statistics.hpp>
#include <drey/cuda/trace/trace_files.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace drey::cuda::trace {
namespace {
class Snapshots : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v python3 > /dev/null") != 0) GTEST_SKIP() << "no python3 here";
    path_ = ::testing::TempDir() + "drey_snapshot_test_" +
            ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  void TearDown() override { std::remove(path_.c_str()); }

  // What Python prints about the file, which it has as `data`.
  std::string python(const std::string& bytes, const std::string& load, const std::string& code) {
    write_file(path_, bytes);
    const std::string command = "python3 -c '" + load + "\n" + code + "' '" + path_ + "' 2>&1";
    std::FILE* const pipe = ::popen(command.c_str(), "r");
    std::string text;
    char part[4096];
    while (std::fgets(part, sizeof part, pipe) != nullptr) text += part;
    EXPECT_EQ(::pclose(pipe), 0) << text;
    return text;
  }
  std::string unpickle(const std::string& bytes, const std::string& code) {
    return python(bytes,
                  "import pickle, pickletools, sys; raw = open(sys.argv[1], \"rb\").read(); "
                  "data = pickle.loads(raw)",
                  code);
  }

  std::string path_;
};

Snapshot sample() {
  Snapshot snapshot;
  SnapshotSegment segment;
  segment.address = 0x7f12'3456'0000;
  segment.bytes = 4 << 20;
  segment.stream = 3;
  segment.blocks = {{segment.address, 1 << 20, 1'000'000, BlockState::kActive},
                    {segment.address + (1 << 20), 1 << 20, 700'000, BlockState::kPending},
                    {segment.address + (2 << 20), 2 << 20, 0, BlockState::kInactive}};
  snapshot.segments = {segment};
  snapshot.device_traces.resize(1);
  for (std::uint64_t index = 0; index < 400; ++index)
    snapshot.device_traces[0].push_back({static_cast<SnapshotAction>(index % 8),
                                         segment.address + index, index * 77, index % 3, index});
  return snapshot;
}

TEST_F(Snapshots, HaveWhatTheViewerLooksFor) {
  EXPECT_EQ(unpickle(pickle_of(sample()),
                     "s = data[\"segments\"][0]\n"
                     "print(sorted(data), sorted(s), s[\"address\"], s[\"total_size\"])\n"
                     "print(s[\"allocated_size\"], s[\"active_size\"], s[\"requested_size\"])\n"
                     "print(s[\"segment_pool_id\"], s[\"is_expandable\"], s[\"segment_type\"])\n"
                     "print([b[\"state\"] for b in s[\"blocks\"]], s[\"blocks\"][1])"),
            "['allocator_settings', 'device_traces', 'external_annotations', 'segments'] "
            "['active_size', 'address', 'allocated_size', 'blocks', 'device', 'frames', "
            "'is_expandable', 'requested_size', 'segment_pool_id', 'segment_type', 'stream', "
            "'total_size'] 139716164190208 4194304\n"
            "1048576 2097152 1000000\n"
            "(0, 0) True large\n"
            "['active_allocated', 'active_pending_free', 'inactive'] {'address': 139716165238784, "
            "'size': 1048576, 'requested_size': 700000, 'state': 'active_pending_free', "
            "'frames': []}\n");
}

TEST_F(Snapshots, HaveEventsByPytorchsNames) {
  EXPECT_EQ(
      unpickle(pickle_of(sample()),
               "t = data[\"device_traces\"][0]\n"
               "print(len(t), [e[\"action\"] for e in t[:8]])\n"
               "print(sorted(t[0]), t[7][\"device_free\"] - data[\"segments\"][0][\"address\"])\n"
               "print(all(e[\"size\"] == 77 * i for i, e in enumerate(t)))"),
      "400 ['alloc', 'free_requested', 'free_completed', 'segment_alloc', 'segment_free', "
      "'segment_map', 'segment_unmap', 'oom']\n"
      "['action', 'addr', 'compile_context', 'frames', 'size', 'stream', 'time_us', "
      "'user_metadata'] 7\n"
      "True\n");
}

// The viewer has a reader of its own, which knows these and no others.
TEST_F(Snapshots, UseOnlyOpcodesThatTheViewerKnows) {
  EXPECT_EQ(
      unpickle(pickle_of(sample()),
               "known = set(\"PROTO FRAME STOP MARK EMPTY_DICT EMPTY_LIST EMPTY_TUPLE SETITEM "
               "SETITEMS APPEND APPENDS LIST DICT TUPLE TUPLE1 TUPLE2 TUPLE3 BININT BININT1 "
               "BININT2 LONG1 BINFLOAT BINUNICODE SHORT_BINUNICODE NEWTRUE NEWFALSE NONE BINPUT "
               "BINGET LONG_BINPUT LONG_BINGET MEMOIZE\".split())\n"
               "print({o[0].name for o in pickletools.genops(raw)} - known)"),
      "set()\n");
}

TEST_F(Snapshots, NumbersOfEveryLengthAndManyWordsComeBack) {
  PickleText text;
  text.open_list();
  std::string expected;
  for (unsigned shift = 0; shift < 64; ++shift) {
    for (const std::uint64_t less : {0, 1}) {
      text.add((std::uint64_t{1} << shift) - less);
      expected += std::to_string((std::uint64_t{1} << shift) - less) + "\n";
    }
  }
  for (int word = 0; word < 600; ++word) text.add(std::to_string(word % 300).c_str());
  text.add_none().close_list();
  EXPECT_EQ(unpickle(text.finish(),
                     "for n in data[:128]: print(n)\n"
                     "print(data[128:] == [str(w % 300) for w in range(600)] + [None])"),
            expected + "True\n");
}

TEST_F(Snapshots, StatisticsHavePytorchsNames) {
  MemoryStatistics statistics;
  statistics.allocated_bytes.grow(4096, false);
  statistics.allocated_bytes.grow(5 << 20, true);
  statistics.allocated_bytes.shrink(4096, false);
  statistics.num_ooms = 2;
  EXPECT_EQ(python(json_of(statistics), "import json, sys; data = json.load(open(sys.argv[1]))",
                   "a = \"allocated_bytes.\"\n"
                   "print(len(data), data[a + \"all.current\"], data[a + \"all.peak\"], "
                   "data[a + \"small_pool.freed\"], data[a + \"large_pool.allocated\"], "
                   "data[\"num_ooms\"], data[\"inactive_split.all.peak\"])"),
            "113 5242880 5246976 4096 5242880 2 0\n");
}
}  // namespace
}  // namespace drey::cuda::trace
