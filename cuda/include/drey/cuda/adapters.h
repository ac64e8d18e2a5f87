/* adapters.h: what libdrey_cuda_torch.so exports: the functions that PyTorch's CUDAPluggableAllocator and CuPy's
 * function allocators ask for, with their signatures. One allocator a device, opened at its first use with the
 * process's driver (drey/cuda/driver_table.hpp) and never closed; both frameworks share it.
 *
 * Invariants: a call that fails has changed nothing. The calls for PyTorch throw a std::exception, out of C,
 * as it expects (it does not look for null); those for CuPy never throw. Streams are cudaStream_t; null is
 * the legacy stream. Threads: any.
 * Read next: cuda/README.md, "PyTorch, CuPy, cuda::mr"; examples/python.
 * SPDX-License-Identifier: MIT
 */
#ifndef DREY_CUDA_ADAPTERS_H
#define DREY_CUDA_ADAPTERS_H

#include <stddef.h>

#ifdef __cplusplus
#include <functional>
#include <utility>
struct CUstream_st;
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* set_init_fn. Throws: there is no driver, in one line. */
void drey_torch_init(int device_count);
/* The allocation, null for 0 bytes. Throws: no such device, no memory (what() is the report), the stream
 * captures a graph for which no pool was begun. */
void* drey_torch_alloc(size_t bytes, int device, void* stream);
/* All uses are before the present end of `stream`, and of the recorded ones. Null: nothing happens. If the
 * stream captures, the block is kept and freed by a later call, after the capture.
 * Throws: what is no block of this size on this device. */
void drey_torch_free(void* pointer, size_t bytes, int device, void* stream);
/* set_reset_fn: idle memory of all devices goes back to the driver. Never waits for a device. */
void drey_torch_reset(void);
/* set_memory_fraction_fn: never hold more than this part of the device's memory. Throws: not in [0, 1]. */
void drey_torch_memory_fraction(double fraction, int device);
/* set_base_alloc_fn: the mapping a block lies in. Throws: a pointer that is nobody's. */
void* drey_torch_base_alloc(void* pointer, size_t* bytes);
/* set_record_stream_fn: the block is used in `stream` too, until it is freed. Null: nothing happens.
 * Throws: what is no block. */
void drey_torch_record_stream(void* pointer, void* stream);
/* Not PyTorch's: the stream is about to be destroyed, and its handle may be another's next. For streams that
 * the program destroys itself; PyTorch never destroys its own. */
void drey_torch_stream_retired(int device, void* stream);

#ifdef __cplusplus
/* set_begin_allocate_to_pool, set_end_allocate_to_pool_fn, set_release_pool, with PyTorch's types: what the filter says
 * yes to is allocated from the pool, until the end; the memory is the pool's until its last release, which
 * waits for the device. A capture that was seen broken keeps nothing, whether it is ended or not.
 * Throws: no such device, 63 pools, a driver before 12.3. */
void drey_torch_begin_allocate_to_pool(int device,
                                       std::pair<unsigned long long, unsigned long long> pool,
                                       std::function<bool(CUstream_st*)> filter);
void drey_torch_end_allocate_to_pool(int device,
                                     std::pair<unsigned long long, unsigned long long> pool);
void drey_torch_release_pool(int device, std::pair<unsigned long long, unsigned long long> pool);
#endif

/* CuPy's malloc_func(param, size, device): `param` is the stream. Null: 0 bytes, or it failed. */
void* drey_cupy_malloc(void* param, size_t bytes, int device);
/* CuPy's free_func(param, pointer, device): `param` is the stream after whose present end nothing uses it. */
void drey_cupy_free(void* param, void* pointer, int device);
/* Why this thread's last call of the two failed; "" if it did not. Valid until its next one. */
const char* drey_cupy_error(void);

#ifdef __cplusplus
}
#endif
#endif
