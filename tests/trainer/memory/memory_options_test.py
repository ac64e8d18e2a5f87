"""memory_options_test.py: the memory options of drey-train as a user gives them.

    memory_options_test.py DREY_TRAIN SCRATCH_FOLDER [DREY_TRAIN_COUNTED]

Every form ends with the weights of the default one; an ensemble does so for any number of threads and goes on from its
checkpoint as if it had never stopped; what cannot be is refused in one line with exit code 2.
SPDX-License-Identifier: MIT
"""

import json
import pathlib
import shutil
import subprocess
import sys

PROGRAM = sys.argv[1]
FOLDER = pathlib.Path(sys.argv[2])
COUNTED = sys.argv[3] if len(sys.argv) > 3 else None
BARS = ["--data", "synthetic:1200:1", "--no-progress", "--epochs", "1"]
SHORT = BARS + ["--batch", "16", "--buffer", "300", "--learning-starts", "100", "--max-steps", "200"]
FORMS = (["--replay", "pool"], ["--replay", "shared"], ["--replay", "copy"], ["--batch-buffers", "fresh"],
         ["--polyak", "temporaries"], ["--states", "each"], ["--history", "erase"], ["--monitor", "keep"],
         ["--replay", "copy", "--batch-buffers", "fresh", "--polyak", "temporaries", "--states", "each",
          "--history", "erase", "--monitor", "keep"])
FIVE = ["--agents", "5", "--train-frequency", "8", "--gradient-steps", "8"]


def run(options):
    return subprocess.run([PROGRAM] + options, cwd=FOLDER, capture_output=True, text=True, timeout=300, check=False)


def stats(options):
    """What a run that must go well prints at the end."""
    done = run(options + ["--stats", "json"])
    expect(done.returncode == 0, f"{' '.join(options)} goes well: {done.stderr}")
    return json.loads(done.stdout[done.stdout.index("\n{") + 1:])


def expect(fact, text):
    if not fact:
        print(f"FAILED: {text}")
        sys.exit(1)


def forms_end_with_the_same_weights():
    for both in ([], ["--target", "hard", "--target-interval", "30"]):
        wanted = stats(SHORT + both)["weights_hash"]
        for form in FORMS if not both else (["--polyak", "temporaries"],):
            found = stats(SHORT + both + form)["weights_hash"]
            expect(found == wanted, f"{' '.join(both + form)}: weights {wanted}, found {found}")


def an_ensemble_does_not_depend_on_threads():
    found = {threads: stats(SHORT + FIVE + ["--threads", threads]) for threads in ("1", "2", "5")}
    hashes = {stat["weights_hash"] for stat in found.values()}
    expect(len(hashes) == 1, f"one hash for all numbers of threads, found {hashes}")
    own = stats(SHORT + FIVE + ["--agent-replay", "own", "--replay", "pool", "--threads", "2"])
    expect({own["weights_hash"]} == hashes, "and with a replay each")
    shared = found["1"]["memory"]["components"]
    expect(own["memory"]["components"]["pools"] > 5 * 100 * 1800, "five pools of rows are counted")
    expect(shared["replay"] == 300 * 16, f"one replay of 16 bytes a transition, found {shared['replay']}")


def an_ensemble_goes_on_from_its_checkpoint():
    per = ["--per", "--agreement", "vote"]
    whole = stats(SHORT[:-2] + FIVE + per + ["--max-steps", "400", "--checkpoint", "whole.safetensors"])
    stats(SHORT[:-2] + FIVE + per + ["--max-steps", "200", "--checkpoint", "half.safetensors"])
    for form in ([], ["--replay", "copy", "--threads", "2"]):
        rest = stats(BARS + form + ["--max-steps", "400", "--resume", "half.safetensors", "--checkpoint",
                                    "rest.safetensors"])
        expect(rest["weights_hash"] == whole["weights_hash"], "the weights of the run that never stopped")
        expect((FOLDER / "rest.safetensors").read_bytes() == (FOLDER / "whole.safetensors").read_bytes(),
               "and its checkpoint, to the last byte")
    looked = run(["--data", "synthetic:1200:1", "--eval", "--resume", "whole.safetensors"])
    expect(looked.returncode == 0, f"an ensemble is evaluated from its checkpoint: {looked.stderr}")


def the_report_knows_where_the_memory_is():
    found = stats(SHORT)
    memory = found["memory"]
    expect(set(memory["components"]) >= {"features", "replay", "networks", "optimiser", "batch_buffers", "pools",
                                         "monitor"}, f"all parts are named, found {memory['components']}")
    expect(memory["components"]["features"] == 688 * 960, "features: rows of 960 bytes")
    expect(memory["components"]["networks"] >= 3 * 37379 * 4, "three blocks of the network's size")
    expect(memory["components_bytes"] == sum(memory["components"].values()) <= memory["peak_rss_bytes"],
           "parts add up to less than the peak")
    expect(memory["state_conversions"] == 688, "each row is converted once")
    each = stats(SHORT + ["--states", "each"])["memory"]
    expect(each["state_conversions"] > 200 * 32, "or on each use")
    expect(each["components"]["features"] == 688 * 1800, "from doubles")


def mended_forms_make_no_heap_call():
    if COUNTED is None:
        print("heap calls: not counted, there is no program that can")
        return
    for options, calls in (([], 0), (["--replay", "pool"], 0), (FIVE + ["--threads", "2"], 0),
                           (["--replay", "copy"], 4 * 16), (["--batch-buffers", "fresh"], 10),
                           (["--polyak", "temporaries"], 6)):
        done = subprocess.run([COUNTED] + SHORT + options + ["--stats-json", "counted.json"], cwd=FOLDER,
                              capture_output=True, text=True, timeout=300, check=False)
        expect(done.returncode == 0, f"{options}: {done.stderr}")
        counted = json.loads((FOLDER / "counted.json").read_text())["heap_calls"]
        expect((counted["in_steps_after_warmup"] == 0) == (calls == 0), f"{options}: heap calls {counted}")
        # The first step is warm-up.
        expect(counted["in_steps_after_warmup"] >= calls * 199, f"{options}: {calls} calls a step, found {counted}")


def bad_input_is_refused():
    for options, words in ((["--agents", "17"], ("--agents", "1 to 16", "17")),
                           (["--agents", "0"], ("--agents", "1 to 16", "0")),
                           (["--replay", "clone"], ("--replay", "index", "clone")),
                           (["--replay", "pool", "--env", "cartpole", "--pass-steps", "10"],
                            ("--replay", "4 values", "pool")),
                           (["--threads", "0"], ("--threads", "1 to 16", "0"))):
        done = run(SHORT + options + ["--checkpoint", "bad.safetensors"])
        lines = done.stderr.strip().splitlines()
        expect(done.returncode == 2 and len(lines) == 1, f"{options}: exit code 2 and a line, found {done}")
        expect(all(word in lines[0] for word in words), f"{options}: {words} in {lines[0]}")
        expect(not list(FOLDER.glob("bad*")), "and nothing is left behind")


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for part in (forms_end_with_the_same_weights, an_ensemble_does_not_depend_on_threads,
                 an_ensemble_goes_on_from_its_checkpoint, the_report_knows_where_the_memory_is,
                 mended_forms_make_no_heap_call, bad_input_is_refused):
        part()
        print(f"{part.__name__}: true")


if __name__ == "__main__":
    main()
