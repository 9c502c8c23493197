"""Prints which arrays two safetensors files of the same names have other bytes in: changed_arrays.py FIRST OTHER."""
import json
import struct
import sys


def read(path):
    data = open(path, 'rb').read()
    start = 8 + struct.unpack('<Q', data[:8])[0]
    header = json.loads(data[8:start])
    header.pop('__metadata__', None)
    return {name: data[start + entry['data_offsets'][0]:start + entry['data_offsets'][1]] for name, entry in header.items()}


first, other = read(sys.argv[1]), read(sys.argv[2])
assert first.keys() == other.keys(), f'{sorted(first)} and {sorted(other)}'
print(*sorted(name for name in first if first[name] != other[name]))
