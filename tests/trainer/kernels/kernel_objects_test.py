"""kernel_objects_test.py NM OBJECTS: the files of the instruction sets share no code with others.

A weak symbol may be taken from any object that has it: a function of the standard library that was
compiled for AVX-512 would then run on machines without. So these objects must not have any.
SPDX-License-Identifier: MIT
"""
import re
import subprocess
import sys

KERNELS = re.compile(r"/kernels/(avx2|avx512|avx512_bf16|amx)\.cpp\.")
KINDS_THAT_ARE_SHARED = "WwVvu"


def main():
    nm, objects = sys.argv[1], [part for argument in sys.argv[2:] for part in argument.split(";")]
    kernels = [name for name in objects if KERNELS.search(name)]
    if not kernels:
        print("SKIPPED: this processor has none of the instruction sets")
        return 77
    faults = 0
    for name in kernels:
        output = subprocess.run([nm, "-C", name], check=True, capture_output=True, text=True).stdout
        for line in output.splitlines():
            kind = line[17:18]
            if kind in KINDS_THAT_ARE_SHARED:
                print(f"{name}: expected no symbol that the linker may share, found {line[17:]}")
                faults += 1
    print(f"{len(kernels)} objects, {faults} shared symbols")
    return 1 if faults else 0


sys.exit(main())
