"""Writes a .npy file of i64 that are all the same: labels_npy.py FILE COUNT LABEL."""
import struct
import sys

path, count, label = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
header = ("{'descr': '<i8', 'fortran_order': False, 'shape': (%d,), }" % count).ljust(117) + '\n'
with open(path, 'wb') as file:
    file.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode() + struct.pack('<%dq' % count, *[label] * count))
