#!/usr/bin/env python3
"""Writes a compressed .npz of one array `x` of float32 zeros, as NumPy's savez_compressed does.

    zeros_npz.py FILE COUNT
"""
import struct
import sys
import zipfile

count = int(sys.argv[2])
header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({count},), }}"
header += ' ' * (117 - len(header)) + '\n'
with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as archive, archive.open('x.npy', 'w') as member:
    member.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode())
    for at in range(0, count * 4, 1 << 20):
        member.write(bytes(min(1 << 20, count * 4 - at)))
