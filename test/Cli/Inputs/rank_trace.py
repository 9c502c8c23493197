"""A trace of ranks: each has a process of its own with lanes, as many steps as it recorded, and all meet at the same
time: no collective ends before every rank has come to it. python rank_trace.py TRACE RANKS STEPS"""
import json
import sys

events = json.load(open(sys.argv[1]))['traceEvents']
ranks, steps = int(sys.argv[2]), int(sys.argv[3])
names = {e['pid']: e['args']['name'] for e in events if e['ph'] == 'M' and e['name'] == 'process_name'}
sums = []
for rank in range(ranks):
    pid = next(pid for pid, name in names.items() if name.startswith(f'rank {rank} on '))
    spans = [e for e in events if e['ph'] == 'X' and e['pid'] == pid]
    assert spans, names
    sums.append(sorted((e['ts'], e['ts'] + e['dur']) for e in spans if e['name'].startswith('out.weight and')))
    calls = [e for e in events if e['ph'] == 'X' and e['name'] == 'step' and e['tid'] == rank]
    assert len(calls) == steps and len(sums[-1]) == steps, (len(calls), len(sums[-1]))
slack = 500  # microseconds: what clocks of processes may be off by on a machine that is busy
for together in zip(*sums):
    last = max(begin for begin, end in together)
    assert all(end >= last - slack for begin, end in together), together
