"""Checks that the lost time of simulated ranks is explained, no more and no less: lost_time.py FILE.json."""
import json
import re
import sys

document = json.load(open(sys.argv[1]))
strong = document["scaling"] == "strong"
for point in document["points"]:
    ideal = point["one_rank_ns"] / (point["ranks"] if strong else 1)
    lost = point["lost"]
    assert all(part >= 0 for part in lost.values()), lost
    assert abs(sum(lost.values()) - max(point["step_ns"] - ideal, 0)) < 1e-6 * point["step_ns"], point
    assert abs(sum(lost.values()) - point["lost_ns"]) < 1e-6 * point["step_ns"], point
    verdict = point["verdict"]
    assert abs(sum(value for key, value in verdict.items() if key.endswith("_share")) - 1) < 1e-9, verdict
lines = [line for line in document["curve"] if "of the lost time" in line]
assert lines, document["curve"]
for line in lines:
    assert sum(map(int, re.findall(r"(\d+) % is", line))) == 100, line
print("adds up")
