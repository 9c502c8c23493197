"""Checks what `sprig profile` says bounds a run: check_bounds.py verdict FILE BOUND CALLS | trace FILE NAME..."""
import json
import sys


def verdict(path, bound, calls):
    busy = json.load(open(path))["profiles"][0]["busy"]
    found = busy["verdict"]
    assert found["bound"] == bound and found["remedies"], found
    shares = [found[part + "_share"] for part in ("computation", "exposed_copy", "data", "hand_off")]
    assert abs(sum(shares) - 1) < 1e-6 and min(shares) >= 0, found
    assert busy["devices"] and all(0 <= device["busy_share"] <= 1 for device in busy["devices"]), busy["devices"]
    path = busy["critical_path"]
    assert path["ns"] > 0 and path["commands"], path
    steps = busy.get("steps", [])
    assert len(steps) == int(calls) and all(step["call_ns"] > 0 for step in steps), steps
    if bound == "data":
        assert sum(step["wait_for_data_ns"] for step in steps) > 0.5 * 20e6 * len(steps), steps


def trace(path, *names):
    events = json.load(open(path))["traceEvents"]
    found = {event["name"] for event in events} | {event["args"]["name"] for event in events if event["ph"] == "M"}
    assert set(names) <= found, (names, found)


{"verdict": verdict, "trace": trace}[sys.argv[1]](*sys.argv[2:])
