"""layers.py: which folder may include what: the order of the layers, as data.

base <- alloc/os <- alloc/core <- {alloc/api.cpp, alloc/override} <- pools <- trainer; bench and
tests on top; cuda beside, on base alone. A rule belongs to the longest prefix of a file's path.
Read next: tidy.py.
SPDX-License-Identifier: MIT
"""

# The public headers of each layer, by the prefix an include of them has.
PUBLIC = {
    "base": ("drey/base/",),
    "alloc": ("drey/alloc.h", "drey/alloc.hpp", "drey/alloc/", "drey/observe.h", "drey/observe.hpp"),
    "pools": ("drey/pools.h", "drey/pools/"),
    "cuda": ("drey/cuda.h", "drey/cuda/"),
}

BASE, ALLOC, POOLS, CUDA = (PUBLIC[name] for name in ("base", "alloc", "pools", "cuda"))

# prefix of the file -> prefixes of the project's own headers that it may include.
MAY_INCLUDE = {
    "base/": BASE,
    "alloc/include/": BASE + ALLOC,
    "alloc/os/": BASE + ("os/",),
    "alloc/core/": BASE + ALLOC + ("os/", "core/"),
    "alloc/override/": BASE + ALLOC + ("os/", "core/", "override/", "trace/surface.hpp"),
    "alloc/trace/": BASE + ALLOC + ("os/", "core/", "trace/"),
    "alloc/": BASE + ALLOC + ("os/", "core/"),
    "pools/": BASE + ALLOC + POOLS,
    "cuda/": BASE + CUDA,
    "trainer/": BASE + ALLOC + POOLS + CUDA + ("data/", "features/", "trainer/"),
    "bench/": BASE + ALLOC + POOLS + CUDA + ("bench/",),
}

# Prefixes of every private or public header of ours: an include of none of these is foreign.
OWN_PREFIXES = ("drey/", "os/", "core/", "override/", "trace/")

# prefix of the file -> standard headers that are out of place there.
FORBIDDEN_STANDARD = {
    "base/": ("string", "vector", "map", "iostream", "fstream", "sstream", "mutex", "thread",
              "functional", "memory", "stdexcept", "unordered_map", "regex"),
    "alloc/": ("string", "vector", "map", "iostream", "fstream", "sstream", "mutex", "thread",
               "functional", "memory", "stdexcept", "unordered_map", "regex"),
    # std::allocator is what a standard allocator is in constant expressions.
    "alloc/include/": ("string", "vector", "map", "iostream", "fstream", "sstream", "mutex",
                       "thread", "functional", "stdexcept", "unordered_map", "regex"),
    "pools/": ("string", "vector", "map", "iostream", "fstream", "sstream", "functional",
               "stdexcept", "unordered_map", "regex"),
}


def longest_prefix(path, table):
    """The entry of `table` for this path, or None."""
    prefixes = [prefix for prefix in table if path.startswith(prefix)]
    return table[max(prefixes, key=len)] if prefixes else None


def include_problem(path, header, is_quoted):
    """What is wrong with this include of this file; None if nothing is."""
    if ".." in header.split("/"):
        return f"'..' in an include: {header}"
    own = header.startswith(OWN_PREFIXES)
    allowed = longest_prefix(path, MAY_INCLUDE)
    layer = next((prefix for prefix in sorted(MAY_INCLUDE, key=len, reverse=True)
                  if path.startswith(prefix)), "")
    if own and allowed is not None and not header.startswith(allowed):
        return f"{layer.rstrip('/')} may not include {header}"
    forbidden = longest_prefix(path, FORBIDDEN_STANDARD)
    if not is_quoted and forbidden and header in forbidden:
        return f"{layer.rstrip('/')} may not include <{header}>"
    return None
