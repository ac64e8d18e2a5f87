#!/usr/bin/env python3
"""torch_check.py: PyTorch on its own allocator or on drey's, and what a training asks of it as a trace.

    torch_check.py race native|LIBRARY FIGURES   small blocks a second, steps a second of a small transformer, peak memory
    torch_check.py record TRACE                  six steps of it as RMM's CSV, which drey-cuda-replay reads

A process has one allocator: native and libdrey_cuda_torch.so are two runs. Written by PyTorch 2.11's documentation.
SPDX-License-Identifier: MIT
"""

import importlib.util
import json
import pathlib
import sys
import time

LENGTHS = (512, 384, 896, 256, 1024, 640)
PAIRS = 20_000


def csv_of(events):
    """RMM's CSV of a device's trace: blocks allocated and freed while it was recorded; the others' frees are left out."""
    rows = ["Thread,Time,Action,Pointer,Size,Stream"]
    live = {}
    first = events[0]["time_us"] if events else 0
    for event in events:
        micros = max(0, event["time_us"] - first)
        clock = time.strftime("%H:%M:%S", time.gmtime(micros // 1_000_000)) + f":{micros % 1_000_000:06d}"
        if event["action"] == "alloc" and event["size"] > 0:
            live[event["addr"]] = event
            rows.append(f"1,{clock},allocate,{event['addr']:#x},{event['size']},{event['stream']:#x}")
        elif event["action"] == "free_completed" and event["addr"] in live:
            made = live.pop(event["addr"])
            rows.append(f"1,{clock},free,{event['addr']:#x},{made['size']},{made['stream']:#x}")
    return "\n".join(rows) + "\n"


def use_drey(library):
    path = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python" / "pytorch.py"
    specification = importlib.util.spec_from_file_location("pytorch_on_drey", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    module.use_drey(library)


def make_training(torch):
    """A function that makes one step on sequences of the length it is given."""
    torch.manual_seed(1)
    layers = [torch.nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True) for _ in range(12)]
    network = torch.nn.Sequential(*layers).to("cuda", torch.bfloat16)
    optimizer = torch.optim.AdamW(network.parameters(), fused=False)

    def step(length):
        words = torch.randn(8, length, 1024, device="cuda", dtype=torch.bfloat16)
        loss = network(words).float().square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss

    return step


def pairs_per_second(torch, byte_count):
    stream = torch.cuda.current_stream()
    for _ in range(200):
        torch.empty(byte_count, dtype=torch.uint8, device="cuda")
    stream.synchronize()
    began = time.perf_counter()
    for _ in range(PAIRS):
        torch.empty(byte_count, dtype=torch.uint8, device="cuda")
    return PAIRS / (time.perf_counter() - began)


def race(allocator, path):
    import torch
    if allocator != "native":
        use_drey(allocator)
    before = torch.cuda.mem_get_info()[0]
    figures = {"allocator": "native" if allocator == "native" else "drey", "torch": torch.__version__,
               "pairs_per_second": {str(size): pairs_per_second(torch, size) for size in (512, 65_536, 1 << 20, 64 << 20)}}
    step = make_training(torch)
    for length in LENGTHS:
        step(length)
    torch.cuda.synchronize()
    began = time.perf_counter()
    for length in LENGTHS * 4:
        loss = step(length)
    torch.cuda.synchronize()
    figures["steps_per_second"] = len(LENGTHS) * 4 / (time.perf_counter() - began)
    figures["last_loss"] = float(loss)
    figures["held_bytes"] = before - torch.cuda.mem_get_info()[0]
    pathlib.Path(path).write_text(json.dumps(figures))


def record(path):
    import torch
    torch.cuda.memory._record_memory_history(enabled="all", context=None, stacks="python", max_entries=2_000_000)
    step = make_training(torch)
    for length in LENGTHS:
        step(length)
    torch.cuda.synchronize()
    snapshot = torch.cuda.memory._snapshot()
    pathlib.Path(path).write_text(csv_of(snapshot["device_traces"][0]))


def main(arguments):
    if len(arguments) == 3 and arguments[0] == "race":
        race(arguments[1], arguments[2])
    elif len(arguments) == 2 and arguments[0] == "record":
        record(arguments[1])
    else:
        print("torch_check.py: expected 'race native|LIBRARY FIGURES' or 'record TRACE'", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
