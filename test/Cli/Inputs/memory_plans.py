"""Checks plans of memory: `memory_plans.py SPRIG FOLDER MODEL...`.

Of each model at batch 1 and 8: the arena is within 1.1 of the lower bound, offsets are multiples of 64, buffers that
live together share no byte. Of the package: inspecting it says the same, and a run allocates exactly what was predicted.
"""
import json
import pathlib
import subprocess
import sys

sprig, folder = sys.argv[1], pathlib.Path(sys.argv[2])
models = [word for word in sys.argv[3:] if word != "--no-run"]


def call(*arguments):
    done = subprocess.run([sprig, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


def check_plan(plan):
    assert plan["lower_bound"] <= plan["arena_bytes"] <= 1.1 * plan["lower_bound"], plan
    for i, a in enumerate(plan["buffers"]):
        assert a["offset"] % 64 == 0 and a["offset"] + a["bytes"] <= plan["arena_bytes"], a
        for b in plan["buffers"][:i]:
            together = a["first_command"] <= b["last_command"] and b["first_command"] <= a["last_command"]
            apart = a["offset"] + a["bytes"] <= b["offset"] or b["offset"] + b["bytes"] <= a["offset"]
            assert apart or not together, (a, b)


for model in models:
    for batch in (1, 8):
        dims = ["--dim", f"batch={batch}", "--threads", "2"]
        memory = json.loads(call("inspect", model, *dims, "--memory", "--format", "json"))["memory"]
        plan = memory["entries"][0]
        check_plan(plan)
        print(f"{model} batch {batch}: arena {plan['arena_bytes']}, ratio {plan['ratio']:.3f}, total {memory['total_bytes']}")
    if "--no-run" in sys.argv:
        continue
    package = folder / "model.sprig"
    call("compile", model, *dims, "--cpu", "native", "-o", package)
    again = json.loads(call("inspect", package, "--threads", "2", "--memory", "--format", "json"))["memory"]
    for key in memory:
        assert key == "entries" or memory[key] == again[key], (key, memory[key], again[key])
    ran = json.loads(call("bench", package, "--dim", "batch=8", "--threads", "2", "--seconds", "0.05", "--format", "json"))
    assert ran["runtime_memory_bytes"] == memory["allocated_bytes"], (model, ran, memory)
    assert ran["runtime_memory_peak_bytes"] == memory["allocated_bytes"], (model, ran, memory)
