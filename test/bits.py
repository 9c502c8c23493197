"""Compares the bits of what two builds have made of the same input: folders of arrays, metrics and packages."""
import ast
import json
import struct
from typing import NamedTuple

# By the names of safetensors: how an element is read, and how it is printed.
FORMATS = {'F64': ('d', '.17g'), 'F32': ('f', '.9g'), 'F16': ('e', '.5g'), 'I64': ('q', ''), 'I32': ('i', ''), 'I16': ('h', ''),
           'I8': ('b', ''), 'U64': ('Q', ''), 'U32': ('I', ''), 'U16': ('H', ''), 'U8': ('B', ''), 'BOOL': ('B', '')}
NPY = {'<f8': 'F64', '<f4': 'F32', '<f2': 'F16', '<i8': 'I64', '<i4': 'I32', '<i2': 'I16', '|i1': 'I8', '<u8': 'U64', '<u4': 'U32',
       '<u2': 'U16', '|u1': 'U8', '|b1': 'BOOL'}


class Array(NamedTuple):
    """Elements of one type: bytes, or for the type `text` a list of strings."""
    type: str
    shape: tuple
    data: bytes | list

    def width(self):
        """Elements of `data` for each of the array's; of an unknown type all of them."""
        if self.type == 'text':
            return 1
        return struct.calcsize(FORMATS[self.type][0]) if self.type in FORMATS else max(len(self.data), 1)

    def element(self, index):
        """The value, and its bits."""
        own = self.data[index * self.width():(index + 1) * self.width()]
        if len(own) < self.width():
            return 'nothing'
        if self.type == 'text':
            return own[0]
        if self.type not in FORMATS:
            return f'{len(own)} bytes of type {self.type}'
        code, style = FORMATS[self.type]
        return f'{struct.unpack("<" + code, own)[0]:{style}} (0x{own[::-1].hex()})'


def safetensors(content):
    size, = struct.unpack('<Q', content[:8])
    header, data = json.loads(content[8:8 + size]), content[8 + size:]
    return {name: Array(entry['dtype'], tuple(entry['shape']), data[slice(*entry['data_offsets'])])
            for name, entry in header.items() if name != '__metadata__'}


def npy(content):
    # Version 1 has two bytes for the header's size, later ones have four.
    width = 2 if content[6] == 1 else 4
    begin = 8 + width + int.from_bytes(content[8:8 + width], 'little')
    header = ast.literal_eval(content[8 + width:begin].decode().strip())
    return {'array': Array(NPY.get(header['descr'], header['descr']), header['shape'], content[begin:])}


def metrics(content):
    """Each field over the steps, as it is written. Times are left out."""
    columns = {}
    for line in content.decode().splitlines():
        for field, value in json.loads(line, parse_float=str, parse_int=str).items():
            if not field.endswith('seconds'):
                columns.setdefault(field, []).append(str(value))
    return {field: Array('text', (len(values),), values) for field, values in columns.items()}


def whole(content):
    return {'file': Array('U8', (len(content),), content)}


def package(content):
    """The sections (docs/package-format.md), and after them the whole file."""
    names = {1: 'metadata', 2: 'constants', 3: 'image'}
    result = {}
    for i in range(struct.unpack_from('<I', content, 12)[0]):
        kind, _, offset, size = struct.unpack_from('<IIQQ', content, 64 + 32 * i)
        result[f'section {i} ({names.get(kind, kind)})'] = Array('U8', (size,), content[offset:offset + size])
    return result | whole(content)


READERS = {'.safetensors': safetensors, '.npy': npy, '.jsonl': metrics, '.sprig': package}


def first_apart(a, b):
    """Where two sequences that are not equal begin to differ: the end of the shorter one at the latest."""
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if a[low:middle] != b[low:middle] else (middle, high)
    return low


def place(index, shape):
    """An element's index in each dimension."""
    indices = []
    for size in reversed(shape):
        indices.insert(0, index % size)
        index //= size
    return indices


def apart(before, now):
    """What differs first in two arrays, or None."""
    if before == now:
        return None
    at = 0
    if before.type == now.type:
        at = first_apart(before.data, now.data) // before.width()
    if before.shape == now.shape and before.type == now.type:
        where = place(at, before.shape)
    elif len(before.shape) == len(now.shape) == 1 and 0 < at < min(before.shape[0], now.shape[0]):
        where = [at]  # of files and metrics of other lengths, how far they agree says more than these
    else:
        return f' is {before.type} of {list(before.shape)} before and {now.type} of {list(now.shape)} now'
    return f'{where} is {before.element(at)} before and {now.element(at)} now'


def in_both(what, before, now):
    """The names of both, and the first that one of them lacks, as text."""
    names = [*before, *(name for name in now if name not in before)]
    lacking = [f'{what}{name} is there {"before" if name in before else "now"} alone' for name in names
               if name not in before or name not in now]
    return [name for name in names if name in before and name in now], lacking[:1]


def difference(before, now, leave_out=()):
    """What differs first in two folders of such files: file, array, element and both values. None where all bits are the
    same. Files of the names `leave_out` do not count."""
    files = [{path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob('*'))
              if path.is_file() and path.name not in leave_out} for folder in (before, now)]
    names, found = in_both('', *files)
    for name in names:
        contents = [side[name].read_bytes() for side in files]
        if contents[0] == contents[1]:
            continue
        try:
            arrays = list(map(READERS.get(files[0][name].suffix, whole), contents))
        except (ValueError, LookupError, struct.error):  # one of them is damaged
            arrays = list(map(whole, contents))
        both, lacking = in_both(f'{name}: ', *arrays)
        found += [f'{name}: {array}{what}' for array in both if (what := apart(arrays[0][array], arrays[1][array]))][:1] + lacking
    return found[0] if found else None
