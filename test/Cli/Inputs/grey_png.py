"""Writes small grey PNG files, each with other pixels: grey_png.py FILE..."""
import struct
import sys
import zlib


def chunk(kind, body):
    return struct.pack('>I', len(body)) + kind + body + struct.pack('>I', zlib.crc32(kind + body))


size = 12
for number, path in enumerate(sys.argv[1:]):
    rows = b''.join(b'\0' + bytes((x * y * (number + 1)) % 256 for x in range(size)) for y in range(size))
    with open(path, 'wb') as file:
        file.write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', size, size, 8, 0, 0, 0, 0)) +
                   chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))
