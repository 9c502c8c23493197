# Samples of IDX files as quantize takes them: IMAGES LABELS FOLDER COUNT. Numbers of 0 to 1, as sprig train reads them.
import os, struct, sys

images, labels, folder, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])


def npy(path, descr, shape, data):
    text = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, tuple(shape))
    text += " " * (63 - (len(text) + 10) % 64) + "\n"
    open(path, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data)


data = open(images, "rb").read()
rank = data[3]
shape = struct.unpack(">%dI" % rank, data[4 : 4 + 4 * rank])
pixels = data[4 + 4 * rank :][: count * shape[1] * shape[2]]
npy(os.path.join(folder, "input_0.npy"), "<f4", (count, 1) + shape[1:], struct.pack("<%df" % len(pixels), *(p / 255 for p in pixels)))
npy(os.path.join(folder, "labels.npy"), "<i8", (count,), struct.pack("<%dq" % count, *open(labels, "rb").read()[8 : 8 + count]))
