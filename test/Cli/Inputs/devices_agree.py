"""Compares `sprig devices --format json` (standard input) with lscpu; does nothing where there is no lscpu."""
import json
import re
import shutil
import subprocess
import sys

cpu = json.load(sys.stdin)["cpu"]
if shutil.which("lscpu"):
    text = subprocess.run(["lscpu", "--json", "--bytes"], capture_output=True, text=True, check=True).stdout

    def fields(entries):
        for entry in entries:
            yield entry["field"].rstrip(":"), entry.get("data") or ""
            yield from fields(entry.get("children", []))

    said = dict(fields(json.loads(text)["lscpu"]))
    assert cpu["model"] == said["Model name"], (cpu["model"], said["Model name"])
    flags = set(said["Flags"].split())
    for word in cpu["features"]:
        assert word in flags, word
    need = {"x86-64-v2": {"sse4_2", "ssse3"}, "x86-64-v3": {"avx2", "fma", "f16c", "bmi2"},
            "x86-64-v4": {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd"}}
    sets = [name for name in need if name <= cpu["isa"]]
    assert all(need[name] <= flags for name in sets), cpu["isa"]
    better = [name for name in need if name > cpu["isa"]]
    assert not better or not need[better[0]] <= flags, cpu["isa"]
    names = {(1, "data"): "L1d", (1, "instruction"): "L1i", (2, "unified"): "L2", (3, "unified"): "L3"}
    for cache in cpu["caches"]:
        field = names.get((cache["level"], cache["type"]))
        match = re.match(r"(\d+)", said.get(field, "") if field else "")
        if match:  # all instances together
            assert int(match[1]) == cache["bytes"] * cache["instances"], (cache, said[field])
