# pytorch.py: PyTorch on drey's device allocator. Written by PyTorch's documentation of CUDAPluggableAllocator; the tests of
# this repository do not run it, as they have neither PyTorch nor a device: they call the same functions by name.
#   python3 examples/python/pytorch.py build/release/lib/libdrey_cuda_torch.so
# SPDX-License-Identifier: MIT
import ctypes
import sys

import torch

SETTERS = {
    "set_init_fn": "drey_torch_init",
    "set_reset_fn": "drey_torch_reset",
    "set_memory_fraction_fn": "drey_torch_memory_fraction",
    "set_base_alloc_fn": "drey_torch_base_alloc",
    "set_record_stream_fn": "drey_torch_record_stream",
    "set_begin_allocate_to_pool": "drey_torch_begin_allocate_to_pool",
    "set_end_allocate_to_pool_fn": "drey_torch_end_allocate_to_pool",
    "set_release_pool": "drey_torch_release_pool",
}


def use_drey(path):
    """Before the first use of CUDA: PyTorch does not change allocators later."""
    allocator = torch.cuda.memory.CUDAPluggableAllocator(path, "drey_torch_alloc", "drey_torch_free")
    library = ctypes.CDLL(path)
    for setter, name in SETTERS.items():
        function = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        getattr(allocator.allocator(), setter)(function)
    torch.cuda.memory.change_current_allocator(allocator)


if __name__ == "__main__":
    use_drey(sys.argv[1])
    weights = torch.randn(4096, 4096, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        product = weights @ weights
    weights.record_stream(side)
    del weights
    torch.cuda.current_stream().wait_stream(side)
    print("sum of the product:", product.sum().item())
    torch.cuda.empty_cache()
    try:
        torch.empty(1 << 45, dtype=torch.uint8, device="cuda")
    except RuntimeError as error:
        print("as it should be:", error)
