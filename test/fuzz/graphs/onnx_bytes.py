"""ONNX models and .npy arrays as bytes, without any package: messages are lists of (field number, value)."""
import math
import struct

FLOAT, INT64, BOOL = 1, 7, 9
PACK = {FLOAT: 'f', INT64: 'q', BOOL: '?'}
NUMPY = {FLOAT: '<f4', INT64: '<i8', BOOL: '|b1'}


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def message(*fields):
    """int: varint; float: 32 bits; str and bytes: with their length. None is left out."""
    out = bytearray()
    for number, value in fields:
        if isinstance(value, float):
            out += varint(number << 3 | 5) + struct.pack('<f', value)
        elif isinstance(value, int):
            out += varint(number << 3) + varint(value)
        elif value is not None:
            value = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return bytes(out)


def packed(dtype, values):
    return struct.pack(f'<{len(values)}{PACK[dtype]}', *values)


def tensor(dtype, shape, values, name=''):
    return message(*[(1, d) for d in shape], (2, dtype), (8, name), (9, packed(dtype, values)))


def attribute(name, value):
    if isinstance(value, float):
        return message((1, name), (2, value), (20, 1))
    if isinstance(value, int):
        return message((1, name), (3, value), (20, 2))
    if isinstance(value, str):
        return message((1, name), (4, value), (20, 3))
    return message((1, name), *[(8, v) for v in value], (20, 7))


def node(op, inputs, outputs, attributes):
    return message(*[(1, i) for i in inputs], *[(2, o) for o in outputs], (3, outputs[0]), (4, op),
                   *[(5, attribute(k, v)) for k, v in attributes.items()])


def value_info(name, dtype, shape):
    dims = message(*[(1, message((1, d))) for d in shape])
    return message((1, name), (2, message((1, message((1, dtype), (2, dims))))))


def model(opset, nodes, initializers, inputs, outputs):
    graph = message(*[(1, n) for n in nodes], (2, 'random'), *[(5, t) for t in initializers],
                    *[(11, i) for i in inputs], *[(12, o) for o in outputs])
    return message((1, 10 if opset > 20 else 8), (7, graph), (8, message((1, ''), (2, opset))))


def npy(dtype, shape, values):
    text = f"{{'descr': '{NUMPY[dtype]}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    text += ' ' * (-(11 + len(text)) % 64) + '\n'
    assert len(values) == math.prod(shape)
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(text)) + text.encode() + packed(dtype, values)
