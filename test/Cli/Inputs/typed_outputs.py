# Writes a data set for types.mlir: its input, and outputs that are off by a share: FOLDER SHARE [INTEGER_OFF].
import os, struct, sys

folder, share = sys.argv[1], float(sys.argv[2])
off = int(sys.argv[3]) if len(sys.argv) > 3 else 0
os.makedirs(folder, exist_ok=True)


def tensor(name, onnx_type, payload):  # a TensorProto: dims, data_type, raw_data
    raw = bytes([0x08, 4, 0x10, onnx_type, 0x4A, len(payload)]) + payload
    open(os.path.join(folder, name + ".pb"), "wb").write(raw)


def bfloat(value):  # nearest
    return (struct.unpack("<I", struct.pack("<f", value))[0] + 0x8000 >> 16).to_bytes(2, "little")


values = [1.0, -2.0, 4.0, 8.0]
wanted = [v * (1 + share) for v in values]
tensor("input_0", 11, struct.pack("<4d", *values))
tensor("output_0", 11, struct.pack("<4d", *wanted))
tensor("output_1", 1, struct.pack("<4f", *wanted))
tensor("output_2", 10, struct.pack("<4e", *wanted))
tensor("output_3", 16, b"".join(bfloat(v) for v in wanted))
tensor("output_4", 6, struct.pack("<4i", *(int(v) + off for v in values)))
