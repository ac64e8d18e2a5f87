// adapters_test.cpp: libdrey_cuda_torch.so as PyTorch and CuPy load it, by dlopen and name, on the simulated device's
// library, which the test steers by its own table.
// SPDX-License-Identifier: MIT
#include <drey/cuda/adapters.h>
#include <drey/cuda/driver_table.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>

namespace drey::cuda {
namespace {
constexpr std::size_t kMiB = std::size_t{1} << 20;

// In place of the linked names, which the test does not have.
class Adapters {
 public:
  Adapters()
      : library_(::dlopen(DREY_ADAPTERS_LIBRARY, RTLD_NOW | RTLD_LOCAL)),
        init(find<decltype(&drey_torch_init)>("drey_torch_init")),
        alloc(find<decltype(&drey_torch_alloc)>("drey_torch_alloc")),
        free(find<decltype(&drey_torch_free)>("drey_torch_free")),
        reset(find<decltype(&drey_torch_reset)>("drey_torch_reset")),
        fraction(find<decltype(&drey_torch_memory_fraction)>("drey_torch_memory_fraction")),
        base(find<decltype(&drey_torch_base_alloc)>("drey_torch_base_alloc")),
        record(find<decltype(&drey_torch_record_stream)>("drey_torch_record_stream")),
        retired(find<decltype(&drey_torch_stream_retired)>("drey_torch_stream_retired")),
        begin_pool(find<decltype(&drey_torch_begin_allocate_to_pool)>(
            "drey_torch_begin_allocate_to_pool")),
        end_pool(
            find<decltype(&drey_torch_end_allocate_to_pool)>("drey_torch_end_allocate_to_pool")),
        release_pool(find<decltype(&drey_torch_release_pool)>("drey_torch_release_pool")),
        cupy_malloc(find<decltype(&drey_cupy_malloc)>("drey_cupy_malloc")),
        cupy_free(find<decltype(&drey_cupy_free)>("drey_cupy_free")),
        cupy_error(find<decltype(&drey_cupy_error)>("drey_cupy_error")) {}
  [[nodiscard]] bool is_whole() const { return missing_.empty(); }
  [[nodiscard]] const std::string& missing() const { return missing_; }
  [[nodiscard]] bool has(const char* name) const { return ::dlsym(library_, name) != nullptr; }

 private:
  template <class Function>
  Function find(const char* name) {
    void* const found = library_ == nullptr ? nullptr : ::dlsym(library_, name);
    const char* const error = found == nullptr ? ::dlerror() : nullptr;
    if (found == nullptr)
      missing_ += std::string(name) + ": " + (error != nullptr ? error : "no library") + "\n";
    return reinterpret_cast<Function>(found);
  }
  void* library_;
  std::string missing_;

 public:
  decltype(&drey_torch_init) init;
  decltype(&drey_torch_alloc) alloc;
  decltype(&drey_torch_free) free;
  decltype(&drey_torch_reset) reset;
  decltype(&drey_torch_memory_fraction) fraction;
  decltype(&drey_torch_base_alloc) base;
  decltype(&drey_torch_record_stream) record;
  decltype(&drey_torch_stream_retired) retired;
  decltype(&drey_torch_begin_allocate_to_pool) begin_pool;
  decltype(&drey_torch_end_allocate_to_pool) end_pool;
  decltype(&drey_torch_release_pool) release_pool;
  decltype(&drey_cupy_malloc) cupy_malloc;
  decltype(&drey_cupy_free) cupy_free;
  decltype(&drey_cupy_error) cupy_error;
};

class AdapterLibrary : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    ::setenv("DREY_CUDA_LIBRARY", DREY_SIMCUDA_LIBRARY, 1);
    ::setenv("DREY_SIM_MEMORY_MIB", "64", 1);
    ::setenv("DREY_SIM_DEVICES", "2", 1);
  }
  void SetUp() override {
    ASSERT_TRUE(adapters.is_whole()) << adapters.missing();
    ASSERT_EQ(driver.reason.length(), 0U) << driver.reason.c_str();
    adapters.init(2);
    for (const int device : {0, 1}) adapters.fraction(1, device);
    ASSERT_EQ(driver.table.device_primary_ctx_retain(&context, 0), Result::kSuccess);
    ASSERT_EQ(driver.table.ctx_set_current(context), Result::kSuccess);
    adapters.reset();
    idle = device_free();
    EXPECT_GE(idle, 60 * kMiB);
  }
  // Every test gives all back; no memory was gone while work used it, and no call broke a capture.
  void TearDown() override {
    if (HasFatalFailure()) return;
    // Work on what was freed is pending until somebody waits; then all can go.
    EXPECT_EQ(driver.table.ctx_synchronize(), Result::kSuccess);
    adapters.reset();
    EXPECT_EQ(device_free(), idle);
    expect_no_hazards();
    EXPECT_EQ(driver.table.ctx_set_current(nullptr), Result::kSuccess);
    EXPECT_EQ(driver.table.device_primary_ctx_release(0), Result::kSuccess);
  }

  static void expect_no_hazards() {
    using Hazards = std::size_t (*)(char* text, std::size_t capacity);
    void* const library = ::dlopen(DREY_SIMCUDA_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(library, nullptr);
    const auto hazards = reinterpret_cast<Hazards>(::dlsym(library, "drey_sim_hazards"));
    ASSERT_NE(hazards, nullptr);
    char text[2000] = "";
    EXPECT_EQ(hazards(text, sizeof(text)), 0U) << text;
    ::dlclose(library);
  }
  [[nodiscard]] std::size_t device_free() const {
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    EXPECT_EQ(driver.table.mem_get_info(&free_bytes, &total_bytes), Result::kSuccess);
    return free_bytes;
  }
  [[nodiscard]] Stream new_stream() const {
    Stream stream = nullptr;
    EXPECT_EQ(driver.table.stream_create_with_priority(&stream, kStreamNonBlocking, 0),
              Result::kSuccess);
    return stream;
  }
  void begin_capture(Stream stream) const {
    EXPECT_EQ(driver.table.stream_begin_capture(stream, CaptureMode::kGlobal), Result::kSuccess);
  }
  /// Ends it; it must not be broken.
  void end_capture(Stream stream) const {
    Graph graph = nullptr;
    EXPECT_EQ(driver.table.stream_end_capture(stream, &graph), Result::kSuccess);
    EXPECT_EQ(driver.table.graph_destroy(graph), Result::kSuccess);
  }

  /// What the exception says that a call ends with; "" if there is none.
  template <class Call>
  static std::string thrown_by(const Call& call) {
    try {
      call();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  }
  static bool contains(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  }

  Adapters adapters;
  LoadedDriver driver = load_driver(DREY_SIMCUDA_LIBRARY);
  Context context = nullptr;
  std::size_t idle = 0;
};

TEST_F(AdapterLibrary, GivesMemoryOfAStreamToTheSameStreamAgain) {
  Stream stream = new_stream();
  void* const block = adapters.alloc(3 * kMiB, 0, stream);
  ASSERT_NE(block, nullptr);
  adapters.free(block, 3 * kMiB, 0, stream);
  EXPECT_EQ(adapters.alloc(3 * kMiB, 0, stream), block);
  void* const other = adapters.alloc(3 * kMiB, 0, nullptr);
  EXPECT_NE(other, block);
  adapters.free(other, 3 * kMiB, 0, nullptr);
  adapters.free(block, 3 * kMiB, 0, stream);
  EXPECT_FALSE(adapters.has("drey_cuda_open"));
}

TEST_F(AdapterLibrary, GivesNothingForNothing) {
  EXPECT_EQ(adapters.alloc(0, 0, nullptr), nullptr);
  adapters.free(nullptr, 0, 0, nullptr);
  adapters.record(nullptr, nullptr);
  EXPECT_EQ(adapters.cupy_malloc(nullptr, 0, 0), nullptr);
  EXPECT_STREQ(adapters.cupy_error(), "");
  adapters.cupy_free(nullptr, nullptr, 0);
  EXPECT_STREQ(adapters.cupy_error(), "");
}

TEST_F(AdapterLibrary, ThrowsTheReportIfThereIsNoMemory) {
  const std::string text =
      thrown_by([&] { static_cast<void>(adapters.alloc(65 * kMiB, 0, nullptr)); });
  EXPECT_TRUE(contains(text, "68157440 bytes asked for")) << text;
  void* const block = adapters.alloc(kMiB, 0, nullptr);
  ASSERT_NE(block, nullptr);
  adapters.free(block, kMiB, 0, nullptr);
}

TEST_F(AdapterLibrary, RefusesDevicesThatAreNotThereByNumber) {
  for (const int device : {-1, 2, 16, 1000}) {
    const std::string name = "no device " + std::to_string(device) + ": there are 2";
    EXPECT_TRUE(contains(thrown_by([&] { static_cast<void>(adapters.alloc(1, device, nullptr)); }),
                         name.c_str()));
    EXPECT_TRUE(
        contains(thrown_by([&] { adapters.free(nullptr, 0, device, nullptr); }), name.c_str()));
    EXPECT_TRUE(contains(thrown_by([&] { adapters.fraction(1, device); }), name.c_str()));
  }
}

TEST_F(AdapterLibrary, RefusesPointersThatAreNoBlocksAndKeepsThoseThatAre) {
  void* const block = adapters.alloc(5000, 0, nullptr);
  char nothing = 0;
  const auto free_text = [&](void* pointer, std::size_t bytes, int device) {
    return thrown_by([&] { adapters.free(pointer, bytes, device, nullptr); });
  };
  EXPECT_TRUE(contains(free_text(&nothing, 1, 0), "not of this allocator"));
  EXPECT_NE(free_text(block, 5000, 1), "");
  EXPECT_NE(free_text(block, 4999, 0), "");
  EXPECT_NE(free_text(static_cast<char*>(block) + 512, 4488, 0), "");
  EXPECT_NE(thrown_by([&] { adapters.record(&nothing, nullptr); }), "");
  EXPECT_NE(thrown_by([&] { static_cast<void>(adapters.base(&nothing, nullptr)); }), "");
  EXPECT_EQ(free_text(block, 5000, 0), "");
  EXPECT_TRUE(contains(free_text(block, 5000, 0), "the block is free already"));
}

TEST_F(AdapterLibrary, EmptiesItsCacheAndOnlyThat) {
  void* const live = adapters.alloc(4 * kMiB, 0, nullptr);
  void* const idle_block = adapters.alloc(8 * kMiB, 0, nullptr);
  adapters.free(idle_block, 8 * kMiB, 0, nullptr);
  const std::size_t before = device_free();
  EXPECT_EQ(driver.table.ctx_synchronize(), Result::kSuccess);
  adapters.reset();
  EXPECT_GE(device_free(), before + 8 * kMiB);
  EXPECT_LE(device_free(), idle - 4 * kMiB);
  adapters.free(live, 4 * kMiB, 0, nullptr);
}

TEST_F(AdapterLibrary, HoldsNoMoreThanItsFraction) {
  adapters.fraction(0.25, 0);
  void* const block = adapters.alloc(10 * kMiB, 0, nullptr);
  EXPECT_TRUE(contains(thrown_by([&] { static_cast<void>(adapters.alloc(8 * kMiB, 0, nullptr)); }),
                       "8388608 bytes asked for"));
  void* const elsewhere = adapters.alloc(20 * kMiB, 1, nullptr);
  adapters.free(elsewhere, 20 * kMiB, 1, nullptr);
  adapters.fraction(0.5, 0);
  void* const second = adapters.alloc(8 * kMiB, 0, nullptr);
  adapters.free(second, 8 * kMiB, 0, nullptr);
  adapters.free(block, 10 * kMiB, 0, nullptr);
  adapters.fraction(0, 0);
  EXPECT_NE(thrown_by([&] { static_cast<void>(adapters.alloc(1, 0, nullptr)); }), "");
  for (const double wrong : {-0.1, 1.5, std::nan("")})
    EXPECT_TRUE(contains(thrown_by([&] { adapters.fraction(wrong, 0); }), "from 0 to 1"));
}

TEST_F(AdapterLibrary, KeepsABlockFromItsStreamUntilARecordedOneIsThere) {
  Stream main = new_stream();
  Stream side = new_stream();
  Event event = [&] {
    Event made = nullptr;
    EXPECT_EQ(driver.table.event_create(&made, kEventDisableTiming), Result::kSuccess);
    return made;
  }();
  void* const block = adapters.alloc(2 * kMiB, 0, main);
  EXPECT_EQ(driver.table.event_record(event, main), Result::kSuccess);
  EXPECT_EQ(driver.table.stream_wait_event(side, event, 0), Result::kSuccess);
  adapters.record(block, side);
  EXPECT_EQ(driver.table.memset_d8_async(reinterpret_cast<DevicePointer>(block), 1, kMiB, side),
            Result::kSuccess);
  adapters.free(block, 2 * kMiB, 0, main);
  void* const next = adapters.alloc(2 * kMiB, 0, main);
  EXPECT_NE(next, block);
  adapters.free(next, 2 * kMiB, 0, main);
  EXPECT_EQ(driver.table.event_destroy(event), Result::kSuccess);
}

TEST_F(AdapterLibrary, SaysInWhichMappingABlockLies) {
  void* const block = adapters.alloc(5000, 1, nullptr);
  std::size_t bytes = 0;
  const char* const base = static_cast<char*>(adapters.base(block, &bytes));
  EXPECT_LE(base, block);
  EXPECT_GE(base + bytes, static_cast<char*>(block) + 5000);
  EXPECT_EQ(bytes % (2 * kMiB), 0U);
  adapters.free(block, 5000, 1, nullptr);
}

TEST_F(AdapterLibrary, RefusesToAllocateInACaptureAndDoesNotBreakIt) {
  Stream stream = new_stream();
  adapters.free(adapters.alloc(kMiB, 0, stream), kMiB, 0, stream);
  begin_capture(stream);
  EXPECT_TRUE(contains(thrown_by([&] { static_cast<void>(adapters.alloc(kMiB, 0, stream)); }),
                       "captures a graph"));
  end_capture(stream);
  adapters.free(adapters.alloc(kMiB, 0, stream), kMiB, 0, stream);
}

TEST_F(AdapterLibrary, KeepsWhatIsFreedInACaptureUntilItIsOver) {
  Stream stream = new_stream();
  void* const block = adapters.alloc(40 * kMiB, 0, stream);
  begin_capture(stream);
  adapters.free(block, 40 * kMiB, 0, stream);
  EXPECT_TRUE(contains(thrown_by([&] { adapters.free(block, 40 * kMiB, 0, stream); }),
                       "the block is free already"));
  char nothing = 0;
  EXPECT_NE(thrown_by([&] { adapters.free(&nothing, 1, 0, stream); }), "");
  end_capture(stream);
  void* const next = adapters.alloc(40 * kMiB, 0, stream);
  EXPECT_EQ(next, block);
  adapters.free(next, 40 * kMiB, 0, stream);
}

// In PyTorch's order: the pool before the capture, its end after, the release with the graph.
TEST_F(AdapterLibrary, GivesACaptureMemoryOfItsPoolUntilThatIsReleased) {
  Stream stream = new_stream();
  adapters.begin_pool(0, {0, 7}, [stream](Stream asked) { return asked == stream; });
  begin_capture(stream);
  void* const block = adapters.alloc(20 * kMiB, 0, stream);
  void* const outside = adapters.alloc(3 * kMiB, 0, nullptr);
  adapters.free(block, 20 * kMiB, 0, stream);
  EXPECT_EQ(adapters.alloc(20 * kMiB, 0, stream), block);
  adapters.free(block, 20 * kMiB, 0, stream);
  end_capture(stream);
  adapters.end_pool(0, {0, 7});
  adapters.free(outside, 3 * kMiB, 0, nullptr);
  void* const other = adapters.alloc(20 * kMiB, 0, stream);
  EXPECT_NE(other, block) << "the graph's";
  adapters.free(other, 20 * kMiB, 0, stream);
  adapters.release_pool(0, {0, 7});
  adapters.release_pool(0, {0, 7});
  EXPECT_NE(thrown_by([&] { adapters.begin_pool(9, {0, 7}, nullptr); }), "");
}

TEST_F(AdapterLibrary, GoesOnAfterACaptureThatFailedWithoutAWord) {
  Stream stream = new_stream();
  adapters.begin_pool(0, {0, 8}, [stream](Stream asked) { return asked == stream; });
  begin_capture(stream);
  void* const block = adapters.alloc(20 * kMiB, 0, stream);
  end_capture(stream);
  void* const other = adapters.alloc(kMiB, 0, stream);
  adapters.free(other, kMiB, 0, stream);
  adapters.free(block, 20 * kMiB, 0, stream);
  adapters.end_pool(0, {0, 8});
  adapters.release_pool(0, {0, 8});
}

TEST_F(AdapterLibrary, ForgetsAStreamThatIsDestroyed) {
  Stream stream = new_stream();
  adapters.free(adapters.alloc(kMiB, 0, stream), kMiB, 0, stream);
  adapters.retired(0, stream);
  EXPECT_EQ(driver.table.stream_destroy(stream), Result::kSuccess);
  Stream next = new_stream();
  EXPECT_EQ(next, stream);
  adapters.free(adapters.alloc(kMiB, 0, next), kMiB, 0, next);
}

TEST_F(AdapterLibrary, ServesThreadsThatUseADeviceForTheFirstTimeTogether) {
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&] {
      Adapters own;
      for (int turn = 0; turn < 50; ++turn) {
        void* const block = own.alloc(4096, 1, nullptr);
        own.free(block, 4096, 1, nullptr);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(AdapterLibrary, ServesCuPyWithoutExceptions) {
  Stream stream = new_stream();
  void* const block = adapters.cupy_malloc(stream, 5000, 0);
  ASSERT_NE(block, nullptr);
  EXPECT_STREQ(adapters.cupy_error(), "");
  EXPECT_EQ(adapters.cupy_malloc(stream, 65 * kMiB, 0), nullptr);
  EXPECT_TRUE(contains(adapters.cupy_error(), "68157440 bytes asked for"));
  EXPECT_EQ(adapters.cupy_malloc(stream, 1, 9), nullptr);
  EXPECT_TRUE(contains(adapters.cupy_error(), "no device 9"));
  adapters.cupy_free(stream, static_cast<char*>(block) + 1, 0);
  EXPECT_STRNE(adapters.cupy_error(), "");
  adapters.cupy_free(stream, block, 0);
  EXPECT_STREQ(adapters.cupy_error(), "");
  adapters.cupy_free(stream, block, 0);
  EXPECT_TRUE(contains(adapters.cupy_error(), "the block is free already"));
}

TEST(AdapterLibraryWithoutADriver, SaysWhyThereIsNone) {
  // In a process of its own: a driver is loaded once. "Threadsafe" begins this test anew there.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::setenv("DREY_CUDA_LIBRARY", "/nowhere/libcuda.so.1", 1);
        std::string text;
        try {
          const Adapters adapters;
          if (adapters.is_whole()) adapters.init(1);
        } catch (const std::exception& error) {
          text = error.what();
        }
        const bool is_right = text.find("/nowhere/libcuda.so.1") != std::string::npos;
        std::_Exit(is_right ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}
}  // namespace
}  // namespace drey::cuda
