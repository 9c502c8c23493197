"""Writes arrays and data sets for the models of holders.test, to the folder that the command line names: ONNX's messages
of sequences and optionals by hand, as tests have no protobuf.
"""
import os
import shutil
import struct
import sys

folder = sys.argv[1]


def field(number, data):
    return bytes([number << 3 | 2, len(data)]) + data


def tensor(values):
    raw = struct.pack("<%df" % len(values), *values)
    return bytes([1 << 3, len(values), 2 << 3, 1]) + field(9, raw)


def sequence(arrays):
    return field(1, b"name") + bytes([2 << 3, 1]) + b"".join(field(3, tensor(each)) for each in arrays)


def optional(array):
    return field(1, b"o") + (b"" if array is None else bytes([2 << 3, 1]) + field(3, tensor(array)))


def npy(values, descr="<f4", code="f"):
    shape = "(%d,)" % len(values) if isinstance(values, list) else "()"
    text = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    text += " " * (-(len(text) + 11) % 64) + "\n"
    values = values if isinstance(values, list) else [values]
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + struct.pack("<%d%s" % (len(values), code), *values)


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def case(name, model, inputs, outputs):
    place = os.path.join(folder, "cases", name)
    os.makedirs(os.path.join(place, "data_0"))
    shutil.copy(os.path.join(folder, model), os.path.join(place, "model.onnx"))
    for prefix, values in (("input", inputs), ("output", outputs)):
        for i, data in enumerate(values):
            ending = "npy" if data.startswith(b"\x93NUMPY") else "pb"
            write(os.path.join(place, "data_0", "%s_%d.%s" % (prefix, i, ending)), data)


for word, count in (("three", 3), ("four", 4), ("five", 5)):
    write(os.path.join(folder, word + ".npy"), npy([0.5 * i for i in range(count)]))

four = [1.0, 2.0, -3.0, 4.0]
for name, arrays in (("none", []), ("one", [[5.0, 6.0]]), ("two", [[5.0], [7.0, 8.0, 9.0]])):
    case(name, "insert.onnx", [sequence(arrays), npy(four)], [sequence(arrays[:1] + [four] + arrays[1:])])
case("there", "optional.onnx", [optional([1.0, 1.0, 2.0, 2.0]), npy(four)],
     [npy([2.0, 3.0, -1.0, 6.0]), npy(True, "|b1", "?")])
case("absent", "optional.onnx", [optional(None), npy(four)], [npy([-1.0, -2.0, 3.0, -4.0]), npy(False, "|b1", "?")])
