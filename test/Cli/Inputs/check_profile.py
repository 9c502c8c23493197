"""Checks what `sprig profile` wrote: check_profile.py rows|lanes|sorted|trace|streams|spoil FILE [ARGUMENT]."""
import json
import sys


def check_rows(path):
    for profile in json.load(open(path))["profiles"]:
        rows = profile["rows"]
        assert profile["calls"] > 0 and rows, profile
        self_time = sum(row["self_ns"] for row in rows)
        assert abs(self_time - profile["wall_ns"]) <= 1e-6 * profile["wall_ns"], (self_time, profile["wall_ns"])
        assert abs(sum(row["share"] for row in rows) - 1) < 1e-6
        for row in rows:
            assert 0 <= row["self_ns"] <= row["total_ns"] * (1 + 1e-9), row
            if row.get("inside"):
                parts = sum(part["self_ns"] for part in row["inside"])
                assert abs(parts - row["self_ns"]) <= 1e-6 * row["self_ns"], (parts, row)
                assert all(part["estimate"] for part in row["inside"]), row
        names = [row["name"] for row in rows]
        assert "(call)" in names and "(between calls)" in names, names
        work = [row for row in rows if row["kind"] != "overhead"]
        assert work and any(row["flops"] > 0 and row["limit_ns"] > 0 for row in work), rows
        assert all(output["samples"] for output in profile["outputs"])


def check_lanes(path):
    """Of several lanes: each has its own time beside the call's, and rows never have more for themselves than in all."""
    for profile in json.load(open(path))["profiles"]:
        rows = profile["rows"]
        assert len({row["lane"] for row in rows if row["lane"]}) > 1, rows
        for row in rows:
            assert 0 <= row["self_ns"] <= row["total_ns"] * (1 + 1e-9), row
        call = next(row for row in rows if row["name"] == "(call)")
        between = next(row for row in rows if row["name"] == "(between calls)")
        assert abs(call["total_ns"] + between["total_ns"] - profile["wall_ns"]) <= 1e-6 * profile["wall_ns"], rows
        assert sum(row["self_ns"] for row in rows) >= (1 - 1e-6) * profile["wall_ns"], rows


def check_sorted(path, column):
    keys = {
        "name": lambda r: r["name"],
        "device": lambda r: r["device"],
        "lane": lambda r: r["lane"],
        "calls": lambda r: -r["calls"],
        "total": lambda r: -r["total_ns"],
        "mean": lambda r: -r["mean_ns"],
        "median": lambda r: -r["median_ns"],
        "min": lambda r: -r["min_ns"],
        "flops": lambda r: -r["flops"],
        "bytes": lambda r: -r["bytes"],
        "rate": lambda r: -r["flops"] / r["calls"] / r["median_ns"] if r["median_ns"] else 0,
        "limit": lambda r: -r["limit_ns"] / r["calls"] / r["median_ns"] if r["median_ns"] else 0,
        "threads": lambda r: -r["thread_ns"] / r["total_ns"] if r["total_ns"] else 0,
        "self": lambda r: -r["self_ns"],
        "share": lambda r: -r["self_ns"],
    }
    rows = json.load(open(path))["profiles"][0]["rows"]
    if column == "order":
        assert rows[0]["kind"] != "overhead" and rows[-1]["kind"] == "overhead", rows
        return
    values = [keys[column](row) for row in rows]
    assert values == sorted(values), values


def check_trace(path, *wanted):
    events = json.load(open(path))["traceEvents"]
    spans, starts, ends, counters = {}, {}, {}, {}
    for event in events:
        assert event["ph"] in "MXsfC", event
        if event["ph"] == "X":
            assert event["dur"] >= 0 and event["ts"] >= 0, event
            begin = round(event["ts"] * 1000)
            spans.setdefault((event["pid"], event["tid"]), []).append((begin, begin + round(event["dur"] * 1000), event))
        elif event["ph"] in "sf":
            (starts if event["ph"] == "s" else ends)[event["name"], event["id"]] = event
        elif event["ph"] == "C":
            counters.setdefault(event["name"], []).append(event["args"]["value"])
    for track, list_ in spans.items():
        if track[0] != 1:
            continue
        open_ = []
        for begin, end, event in sorted(list_, key=lambda s: (s[0], -s[1])):
            while open_ and open_[-1][1] <= begin:
                open_.pop()
            assert not open_ or end <= open_[-1][1], ("spans overlap without nesting", open_[-1], event)
            open_.append((begin, end))
    for key, end in ends.items():
        assert key in starts and starts[key]["ts"] <= end["ts"], (key, end)
    every = [event for list_ in spans.values() for _, _, event in list_]
    dispatches = [event for event in every if event["cat"] == "dispatch"]
    assert any(event["args"]["flops"] > 0 and event["args"]["ops"] for event in dispatches), dispatches
    assert any(event["pid"] == 2 for event in dispatches), "no track of a lane"
    assert any(event["cat"] == "call" for event in every)
    assert min(counters["arena bytes in use"]) >= 0
    if "submit" in wanted:
        assert any(key[0] == "submit" for key in ends), ends
        assert counters["queue"][-1] == 0 and max(counters["queue"]) >= 1, counters["queue"]


def check_streams(path, *wanted):
    """Tracks of a GPU's streams, in which spans follow one another."""
    names, spans, process = {}, {}, None
    for event in json.load(open(path))["traceEvents"]:
        if event["ph"] == "M" and event["name"] == "process_name" and event["args"]["name"] == "streams":
            process = event["pid"]
        elif event["ph"] == "M" and event["name"] == "thread_name" and event["pid"] == process:
            names[event["tid"]] = event["args"]["name"]
        elif event["ph"] == "X" and event["pid"] == process:
            spans.setdefault(names[event["tid"]], []).append((event["ts"], event["ts"] + event["dur"], event["name"]))
    for track, list_ in spans.items():
        list_.sort()
        for (_, end, _), (begin, _, _) in zip(list_, list_[1:]):
            assert begin >= end - 0.0015, (track, end, begin)
    for each in wanted:
        track, _, name = each.partition("=")
        assert any(span[2] == name for span in spans.get(track, [])), (each, spans)


def spoil(path, target):
    profile = json.load(open(path))
    output = profile["profiles"][0]["outputs"][0]
    output["digest"] = "0"
    output["samples"][0] += output["max_abs"] / 2
    json.dump(profile, open(target, "w"))


{"rows": check_rows, "lanes": check_lanes, "sorted": check_sorted, "trace": check_trace, "streams": check_streams, "spoil": spoil}[sys.argv[1]](*sys.argv[2:])
