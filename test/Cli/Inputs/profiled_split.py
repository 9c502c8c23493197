"""Profiles of a split model: every rank has its times, collectives are those of its program, threads and processes agree
on them."""
import json
import sys

threads, processes = (json.load(open(path))["ranks_profile"] for path in sys.argv[1:3])
for profile in threads, processes:
    times = profile["times"]
    assert profile["ranks"] == 4 and profile["calls"] == 5 and len(times["ranks"]) == 4, profile
    for rank in times["ranks"]:
        assert 0 <= rank["exposed_communication_ns"] <= rank["communication_ns"] <= times["ns"], rank
        assert 0 <= rank["waits_for_others_ns"] <= rank["communication_ns"] + 1, rank
        assert abs(rank["compute_ns"] + rank["exposed_communication_ns"] + rank["idle_ns"] - times["ns"]) < 2, rank
    assert all(each["mean_ns"] > 0 and 0 <= each["wait_for_last_ns"] <= each["mean_ns"] for each in profile["collectives"])
facts = [[(each["name"], each["bytes"]) for each in profile["collectives"]] for profile in (threads, processes)]
assert facts[0] == facts[1] and facts[0], facts
assert not threads["processes"] and processes["processes"] and processes["clock_error_ns"] > 0
