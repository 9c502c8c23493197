"""Compares .npy files of floats: same_arrays.py TOLERANCE FIRST OTHER...; the first difference is an error."""
import ast
import struct
import sys


def read(path):
    data = open(path, 'rb').read()
    end = 10 + struct.unpack('<H', data[8:10])[0]
    header = ast.literal_eval(data[10:end].decode())
    code = {'<f4': 'f', '<i4': 'i', '<i8': 'q'}[header['descr']]
    return header, struct.unpack('<%d%s' % ((len(data) - end) // struct.calcsize(code), code), data[end:])


tolerance = float(sys.argv[1])
header, wanted = read(sys.argv[2])
for path in sys.argv[3:]:
    other, got = read(path)
    assert other == header, f'{path}: {other}, expected {header}'
    for i, (a, b) in enumerate(zip(wanted, got)):
        assert abs(a - b) <= tolerance * (1 + abs(a)), f'{path}: element {i} is {b}, expected {a}'
