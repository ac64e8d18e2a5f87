"""mpi_test.py: drey-train on several ranks of mpirun, as a user starts it.

    mpi_test.py DREY_TRAIN SCRATCH_FOLDER       exit code 77: skipped, no mpirun here

Ranks run on one machine, more of them than cores if need be.
SPDX-License-Identifier: MIT
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

PROGRAM = sys.argv[1]
FOLDER = pathlib.Path(sys.argv[2])
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1",
                   OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_hwloc_base_binding_policy="none")
OPTIONS = ["--data", "synthetic:1500:1", "--epochs", "1", "--learning-starts", "200", "--no-progress"]


SIMULATED = {"DREY_CUDA_LIBRARY": str(pathlib.Path(PROGRAM).parent.parent / "lib" / "libsimcuda.so"),
             "DREY_SIM_CONTENTS": "1"}


def run(ranks, *options, variables=None):
    """The finished process, on so many ranks (0: without mpirun), with more environment variables."""
    launcher = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks else []
    return subprocess.run(launcher + [PROGRAM] + OPTIONS + list(options), env=ENVIRONMENT | (variables or {}), cwd=FOLDER,
                          capture_output=True, text=True, timeout=240, check=False)


def stats(name):
    return json.loads((FOLDER / name).read_text())


def expect(fact, text, done=None):
    if fact:
        return
    print(f"FAILED: {text}")
    if done is not None:
        print(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    sys.exit(1)


def lines_of_program(text):
    return [line for line in text.splitlines() if line.startswith("drey-train:")]


def gradients_are_averaged():
    alone = run(0, "--max-steps", "60", "--stats-json", "alone.json")
    expect(alone.returncode == 0, "one process trains", alone)
    two = run(2, "--max-steps", "60", "--stats-json", "two.json", "--checkpoint", "two.safetensors")
    expect(two.returncode == 0, "two ranks train and end with equal weights", two)
    expect(two.stdout.count("trained:") == 1, "rank 0 alone prints", two)
    found, wanted = stats("two.json"), stats("alone.json")
    expect(found["ranks"] == 2 and wanted["ranks"] == 1, "the report says how many ranks there were")
    expect(found["gradient_steps"] == wanted["gradient_steps"] == 60, "a step of two ranks is one step")
    loss, loss_wanted = found["monitor"]["losses"]["mean"], wanted["monitor"]["losses"]["mean"]
    expect(abs(loss - loss_wanted) < 1e-3 * abs(loss_wanted), f"losses agree: {loss} and {loss_wanted}")
    resumed = run(0, "--resume", "two.safetensors", "--max-steps", "70", "--stats-json", "resumed.json")
    expect(resumed.returncode == 0 and stats("resumed.json")["gradient_steps"] == 10,
           "one process goes on from the checkpoint of two", resumed)


def ensembles_are_spread():
    options = ["--agents", "5", "--max-steps", "100", "--batch", "32", "--train-frequency", "4", "--gradient-steps", "4"]
    alone = run(0, *options, "--stats-json", "alone5.json")
    two = run(2, *options, "--stats-json", "two5.json")
    expect(alone.returncode == 0 and two.returncode == 0, "five agents train on one and on two ranks", two)
    expect(stats("alone5.json")["weights_hash"] == stats("two5.json")["weights_hash"],
           "five agents have the same weights on one rank and on two")


def bad_input_ends_all():
    done = run(3, "--batch", "128", "--checkpoint", "odd.safetensors")
    expect(done.returncode == 2, "a batch that three ranks cannot share is refused", done)
    words = lines_of_program(done.stderr)
    expect(len(words) == 1 and "--batch" in words[0] and "3 ranks" in words[0], "in one line", done)
    expect(not list(FOLDER.glob("odd*")), "and nothing is left behind")
    other = [PROGRAM, "--data", "missing.csv", "--epochs", "1", "--checkpoint", "half.safetensors"]
    command = ["mpirun", "--oversubscribe", "-n", "1", PROGRAM] + OPTIONS + ["--checkpoint", "half.safetensors"]
    command += [":", "-n", "1"] + other
    done = subprocess.run(command, env=ENVIRONMENT, cwd=FOLDER, capture_output=True, text=True, timeout=240, check=False)
    words = lines_of_program(done.stderr)
    expect(done.returncode != 0, "bad input of one rank ends the job", done)
    expect(len(words) == 1 and "rank 1" in words[0] and "missing.csv" in words[0], "with its word", done)
    expect(not list(FOLDER.glob("half*")), "and nothing is left behind")


def devices_share_a_batch():
    options = ["--device", "cuda", "--batch", "32", "--max-steps", "30", "--eps-end", "1"]
    alone = run(0, *options, "--stats-json", "device-alone.json", variables=SIMULATED)
    expect(alone.returncode == 0, "one process trains on the simulated device", alone)
    two = run(2, *options, "--stats-json", "device-two.json", variables=SIMULATED)
    expect(two.returncode == 0, "two ranks train, each on its own, and end with equal weights", two)
    loss, loss_wanted = (stats(f"device-{name}.json")["monitor"]["losses"]["mean"] for name in ("two", "alone"))
    expect(abs(loss - loss_wanted) < 1e-3 * abs(loss_wanted), f"losses agree: {loss} and {loss_wanted}")
    done = run(2, *options, "--reduce", "nccl", "--checkpoint", "nccl.safetensors",
               variables=SIMULATED | {"DREY_NCCL_LIBRARY": "/nowhere/libnccl.so.2"})
    words = lines_of_program(done.stderr)
    expect(done.returncode == 2, "without NCCL it is refused", done)
    expect(len(words) == 1 and "DREY_NCCL_LIBRARY" in words[0], "in one line", done)
    expect(not list(FOLDER.glob("nccl*")), "and nothing is left behind")


def ranks_below(launcher):
    """Process ids of the ranks that mpirun has started."""
    found = []
    for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            name, rest = status.read_text().rsplit(")", 1)
        except OSError:
            continue
        if int(rest.split()[1]) == launcher and "drey-train" in name:
            found.append(int(status.parent.name))
    return found


def a_killed_rank_leaves_a_checkpoint():
    checkpoint = FOLDER / "kept.safetensors"
    command = ["mpirun", "--oversubscribe", "-n", "2", PROGRAM, "--data", "synthetic:800:1", "--epochs", "1000000",
               "--learning-starts", "100", "--no-progress", "--checkpoint", str(checkpoint)]
    with subprocess.Popen(command, env=ENVIRONMENT, cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as job:
        for line in job.stdout:
            if checkpoint.exists() and line.startswith("epoch 2/"):
                break
        ranks = ranks_below(job.pid)
        expect(len(ranks) == 2, f"mpirun runs two ranks, found {ranks}")
        os.kill(max(ranks), signal.SIGKILL)
        _, errors = job.communicate(timeout=120)
    expect(job.returncode != 0, "a killed rank ends the job with a failure")
    expect("signal 9" in errors, f"and it is said why: {errors}")
    looked = subprocess.run([PROGRAM, "--data", "synthetic:800:1", "--eval", "--resume", str(checkpoint)], cwd=FOLDER,
                            capture_output=True, text=True, timeout=120, check=False)
    expect(looked.returncode == 0, "and its last complete checkpoint can be used", looked)


def main():
    if shutil.which("mpirun") is None:
        print("SKIPPED: mpirun was not found (apt: openmpi-bin)")
        return 77
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for part in (gradients_are_averaged, ensembles_are_spread, devices_share_a_batch, bad_input_ends_all,
                 a_killed_rank_leaves_a_checkpoint):
        part()
        print(f"{part.__name__}: true")
    return 0


if __name__ == "__main__":
    sys.exit(main())
