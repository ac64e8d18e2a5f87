/* cuda.h: the device allocator and the pinned cache for C, and for whatever calls C: one handle a device, a code
 * from every call.
 *
 * Invariants: no call throws, prints or ends the process. The codes are those of drey::cuda::Status
 * (drey/cuda/status.hpp), which says what each means; 0 is success. A call that fails has changed nothing.
 * Streams are CUstream or cudaStream_t; null is the legacy stream.
 * Read next: drey/cuda/device_allocator.hpp, pinned_cache.hpp.
 * SPDX-License-Identifier: MIT
 */
#ifndef DREY_CUDA_H
#define DREY_CUDA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct drey_cuda_allocator drey_cuda_allocator;
typedef struct drey_cuda_pinned drey_cuda_pinned;
typedef void* drey_cuda_stream;

/* Loads the driver and opens an allocator of the device, with the defaults of AllocatorConfig.
 * message: null, or what to fill with one line when it fails; size: its bytes. */
int drey_cuda_open(int device, drey_cuda_allocator** allocator, char* message, size_t size);
/* Waits for the device and gives everything back. After success the handle is no more. */
int drey_cuda_close(drey_cuda_allocator* allocator);

/* *pointer is null unless it succeeds. alignment: a power of two. */
int drey_cuda_allocate(drey_cuda_allocator* allocator, size_t bytes, size_t alignment,
                       drey_cuda_stream stream, void** pointer);
/* All uses are before the present end of the stream it was allocated for, and of the recorded ones. */
int drey_cuda_deallocate(drey_cuda_allocator* allocator, void* pointer);
/* All uses are before the present end of `stream`, and of the recorded ones. */
int drey_cuda_deallocate_in(drey_cuda_allocator* allocator, void* pointer, drey_cuda_stream stream);
int drey_cuda_record_stream(drey_cuda_allocator* allocator, void* pointer, drey_cuda_stream stream);
int drey_cuda_record_use(drey_cuda_allocator* allocator, void* pointer, drey_cuda_stream stream);
int drey_cuda_stream_retired(drey_cuda_allocator* allocator, drey_cuda_stream stream);

/* Pools and captures as in DeviceAllocator: a pool's memory is nobody else's until its last use is released. Between
 * capture_begin (before cuStreamBeginCapture) and capture_end (after cuStreamEndCapture) streams of the bound
 * capture allocate from the pool. is_kept: there is a graph; it has a use of the pool. */
int drey_cuda_pool_create(drey_cuda_allocator* allocator, int is_for_oom, uint64_t* pool);
int drey_cuda_pool_retain(drey_cuda_allocator* allocator, uint64_t pool);
int drey_cuda_pool_release(drey_cuda_allocator* allocator, uint64_t pool);
/* Without a wait: no graph of the pool runs after the present end of `after`. */
int drey_cuda_pool_release_after(drey_cuda_allocator* allocator, uint64_t pool,
                                 drey_cuda_stream after);
/* This thread allocates from the pool, the innermost one, until its end. */
int drey_cuda_pool_begin(drey_cuda_allocator* allocator, uint64_t pool);
int drey_cuda_pool_end(drey_cuda_allocator* allocator, uint64_t pool);
int drey_cuda_capture_begin(drey_cuda_allocator* allocator, uint64_t pool, uint64_t* capture);
int drey_cuda_capture_bind(drey_cuda_allocator* allocator, uint64_t capture,
                           drey_cuda_stream stream);
int drey_cuda_capture_end(drey_cuda_allocator* allocator, uint64_t capture, int is_kept);

/* released: null, or where to put the bytes that went back. */
int drey_cuda_trim(drey_cuda_allocator* allocator, uint64_t bytes_kept, uint64_t* released);
/* In bytes; 0: none. */
int drey_cuda_set_limits(drey_cuda_allocator* allocator, uint64_t hard, uint64_t soft,
                         uint64_t headroom);
int drey_cuda_sleep(drey_cuda_allocator* allocator);
int drey_cuda_wake(drey_cuda_allocator* allocator);

/* Pinned host memory, as in PinnedCache: bytes_max is what is held at most, 0: no limit. allocate is for the host, which may
 * write at once; allocate_in for work of the stream. deallocate: uses end where they were recorded, and in the stream
 * of allocate_in; deallocate_in: and at the present end of `stream`. trim waits for the device. */
int drey_cuda_pinned_open(int device, uint64_t bytes_max, drey_cuda_pinned** cache, char* message,
                          size_t size);
int drey_cuda_pinned_close(drey_cuda_pinned* cache);
int drey_cuda_pinned_allocate(drey_cuda_pinned* cache, size_t bytes, void** pointer);
int drey_cuda_pinned_allocate_in(drey_cuda_pinned* cache, size_t bytes, drey_cuda_stream stream,
                                 void** pointer);
int drey_cuda_pinned_deallocate(drey_cuda_pinned* cache, void* pointer);
int drey_cuda_pinned_deallocate_in(drey_cuda_pinned* cache, void* pointer, drey_cuda_stream stream);
int drey_cuda_pinned_record_use(drey_cuda_pinned* cache, void* pointer, drey_cuda_stream stream);
int drey_cuda_pinned_stream_retired(drey_cuda_pinned* cache, drey_cuda_stream stream);
int drey_cuda_pinned_trim(drey_cuda_pinned* cache, uint64_t bytes_kept, uint64_t* released);

/* One line for a code. Never null. */
const char* drey_cuda_message(int code);
/* Why this thread's last allocation that ran out of memory did: some lines; returns their characters
 * without the final NUL, also when they were cut. 0: none did. */
size_t drey_cuda_last_report(char* text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
