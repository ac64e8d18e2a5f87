# cupy_on_drey.py: CuPy on drey's device allocator. Written by CuPy's documentation of PythonFunctionAllocator; the tests of this
# repository do not run it, as they have neither CuPy nor a device: they call the same functions by name.
#   python3 examples/python/cupy_on_drey.py build/release/lib/libdrey_cuda_torch.so
#
# Not CFunctionAllocator, though the signatures fit: it passes no stream and does not see a null.
# SPDX-License-Identifier: MIT
import ctypes
import sys

import cupy


def use_drey(path):
    """Memory is of the stream that is current when it is asked for, and is freed in that stream."""
    library = ctypes.CDLL(path)
    library.drey_cupy_malloc.restype = ctypes.c_void_p
    library.drey_cupy_malloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    library.drey_cupy_free.restype = None
    library.drey_cupy_free.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
    library.drey_cupy_error.restype = ctypes.c_char_p
    stream_of = {}

    def malloc(size, device):
        stream = cupy.cuda.get_current_stream().ptr
        pointer = library.drey_cupy_malloc(stream, size, device)
        if pointer is None:
            raise MemoryError(library.drey_cupy_error().decode())
        stream_of[pointer] = stream
        return pointer

    def free(pointer, device):
        library.drey_cupy_free(stream_of.pop(pointer), pointer, device)
        if library.drey_cupy_error():
            raise RuntimeError(library.drey_cupy_error().decode())

    cupy.cuda.set_allocator(cupy.cuda.PythonFunctionAllocator(malloc, free).malloc)


if __name__ == "__main__":
    use_drey(sys.argv[1])
    numbers = cupy.arange(1 << 20)
    print("sum:", int((numbers * 2).sum()))
    try:
        cupy.empty(1 << 45, dtype=cupy.uint8)
    except MemoryError as error:
        print("as it should be:", error)
