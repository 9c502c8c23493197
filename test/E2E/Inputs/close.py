"""close.py A B: the f32 arrays of the same names in two folders agree to 1e-4, and not all bit for bit."""
import math
import pathlib
import struct
import sys


def read(path):
    data = path.read_bytes()
    start = 10 + struct.unpack('<H', data[8:10])[0]
    return struct.unpack(f'<{(len(data) - start) // 4}f', data[start:])


first, second = (pathlib.Path(folder) for folder in sys.argv[1:])
worst, same = 0, True
names = sorted(path.name for path in first.glob('*.npy'))
assert names == sorted(path.name for path in second.glob('*.npy')) and names
for name in names:
    a, b = read(first / name), read(second / name)
    assert len(a) == len(b)
    same = same and a == b
    distances = [abs(x - y) / (1 + abs(y)) for x, y in zip(a, b)]
    assert not any(map(math.isnan, distances)), name
    worst = max(worst, *distances)
print(f'{len(names)} arrays', 'agree' if worst <= 1e-4 else f'differ by {worst}', 'with other bits' if not same else 'bit for bit')
