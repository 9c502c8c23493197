# What a trace shows of copies: how many there are, on which lanes, and how many go on while another lane computes.
import json
import sys

events = [e for e in json.load(open(sys.argv[1]))['traceEvents'] if e['ph'] == 'X' and e['pid'] == 2]
last = max(e['args']['call'] for e in events)
events = [e for e in events if e['args']['call'] == last]
copies = [e for e in events if e['cat'] == 'copy']
work = [e for e in events if e['cat'] == 'dispatch']
beside = [c for c in copies if any(w['ts'] < c['ts'] + c['dur'] and c['ts'] < w['ts'] + w['dur'] for w in work)]
computing = {w['tid'] for w in work}
print(f"{len(copies)} copies, {sum(c['tid'] in computing for c in copies)} on lanes that compute, "
      f"{len(beside)} beside work, each at least {min(c['dur'] for c in copies) / 1000:.0f} ms")
