"""How much training changed: changed_weights.py FIRST.safetensors LAST.safetensors METRICS.jsonl.

More than half of the elements of each weight have to differ, and the loss has to fall to half of what it was.
"""
import json
import struct
import sys


def read(path):
    data = open(path, 'rb').read()
    (size,) = struct.unpack('<Q', data[:8])
    header = json.loads(data[8:8 + size])
    header.pop('__metadata__', None)
    for name, entry in header.items():
        begin, end = entry['data_offsets']
        if entry['dtype'] == 'F32' and len(entry['shape']) > 1:
            yield name, struct.unpack('<%df' % ((end - begin) // 4), data[8 + size + begin:8 + size + end])


before, after = dict(read(sys.argv[1])), dict(read(sys.argv[2]))
assert before and before.keys() == after.keys(), f'{sorted(before)} and {sorted(after)}'
for name, first in before.items():
    changed = sum(a != b for a, b in zip(first, after[name]))
    assert changed > len(first) / 2, f'{name}: {changed} of {len(first)} elements changed'
losses = [record['loss'] for record in map(json.loads, open(sys.argv[3])) if 'loss' in record]
assert losses[-1] < losses[0] / 2, f'the loss was {losses[0]} and is {losses[-1]}'
