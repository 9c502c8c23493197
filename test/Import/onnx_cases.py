"""Writes test cases of one node, as sprig check --cases reads them: to the folder that the command line names, with the
sprig-import-onnx that it names. Without numpy and onnx, which tests have not.
"""
import array
import os
import subprocess
import sys

folder, importer = sys.argv[1:]


def shape_of(v):
    return (len(v),) + (shape_of(v[0]) if v else ()) if isinstance(v, list) else ()


def flat(v):
    return [e for part in v for e in flat(part)] if isinstance(v, list) else [v]


KINDS = {"float": ("<f4", "f"), "uint8": ("|u1", "B"), "int8": ("|i1", "b"), "int32": ("<i4", "i"), "int64": ("<i8", "q"),
         "uint16": ("<u2", "H"), "double": ("<f8", "d"), "bool": ("|b1", "B")}
# Kept as bytes: the value of signed integers, else the code.
KINDS.update({name: KINDS["int8" if name.startswith("int") else "uint8"]
              for name in ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "float8e8m0", "float4e2m1",
                           "int4", "uint4", "int2", "uint2")})


def save(path, kind, value):
    descr, code = KINDS[kind]
    shape = shape_of(value)
    text = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    text += " " * (-(len(text) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode())
        file.write(array.array(code, flat(value)).tobytes())


def case(name, node, inputs, outputs, opset=13):
    """Inputs and outputs as (name, kind, value)."""
    place = os.path.join(folder, name)
    data = os.path.join(place, "data_0")
    os.makedirs(data)
    declare = lambda values: ", ".join("%s[%s] %s" % (kind, ", ".join(map(str, shape_of(v))), n) for n, kind, v in values)
    text = '<ir_version: 10, opset_import: ["" : %d, "com.microsoft" : 1]>\nmain (%s) => (%s) { %s }\n' % (
        opset, declare(inputs), declare(outputs), node)
    path = os.path.join(place, "model.onnxtxt")
    with open(path, "w") as file:
        file.write(text.replace("[]", ""))
    subprocess.run([importer, path, "--to-binary", os.path.join(place, "model.onnx")], check=True)
    for prefix, values in (("input", inputs), ("output", outputs)):
        for i, (_, kind, value) in enumerate(values):
            save(os.path.join(data, "%s_%d.npy" % (prefix, i)), kind, value)
