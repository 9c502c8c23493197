"""Operators that exporters of language models write, with references in double precision: language_references.py FOLDER
SPRIG-IMPORT-ONNX writes a test case for each, as sprig check --cases reads them.
"""
import math
import random

from onnx_cases import case

rng = random.Random(11)


def rand(*shape):
    """Floats in [-1, 1) whose values are exact in f32."""
    return [rand(*shape[1:]) for _ in range(shape[0])] if shape else rng.randint(-2**20, 2**20 - 1) / 2**20


def f(name, value):
    return (name, "float", value)


def pack(numbers, bits):
    """Numbers of a few bits in bytes, lowest bits first."""
    each = 8 // bits
    numbers = numbers + [0] * (-len(numbers) % each)
    return [sum(v << (bits * i) for i, v in enumerate(numbers[at:at + each])) for at in range(0, len(numbers), each)]


def eight_bits(row, block):
    """What accuracy_level 4 leaves of activations: a scale for each block, that of its largest number."""
    result = []
    for at in range(0, len(row), block):
        scale = max(abs(v) for v in row[at:at + block]) / 127
        result += [round(v / scale) * scale for v in row[at:at + block]]
    return result


def nbits(name, rows, inner, columns, bits, block, zeros, bias=False, level=0):
    blocks, most = -(-inner // block), 2**bits - 1
    codes = [[[rng.randint(0, most) for _ in range(block)] for _ in range(blocks)] for _ in range(columns)]
    scales = [[rng.randint(1, 64) / 256 for _ in range(blocks)] for _ in range(columns)]
    zero = {"none": lambda: 2**(bits - 1), "packed": lambda: rng.randint(0, most), "float": lambda: rng.randint(0, 4 * most) / 4}
    points = [[zero[zeros]() for _ in range(blocks)] for _ in range(columns)]
    a, added = rand(rows, inner), rand(columns) if bias else [0] * columns
    weight = lambda n, k: (codes[n][k // block][k % block] - points[n][k // block]) * scales[n][k // block]
    seen = [eight_bits(row, block) for row in a] if level == 4 else a
    y = [[added[n] + sum(v * weight(n, k) for k, v in enumerate(row)) for n in range(columns)] for row in seen]
    inputs = [f("a", a), ("b", "uint8", [[pack(part, bits) for part in column] for column in codes]), f("s", scales)]
    if zeros == "packed":
        inputs.append(("z", "uint8", [pack(row, bits) for row in points]))
    if zeros == "float":
        inputs.append(f("z", points))
    names = "a, b, s, %s%s" % ("" if zeros == "none" else "z", ", , c" if bias else "")
    if bias:
        inputs.append(f("c", added))
    more = ", accuracy_level = %d" % level if level else ""
    case(name, "y = com.microsoft.MatMulNBits <K = %d, N = %d, bits = %d, block_size = %d%s> (%s)" %
         (inner, columns, bits, block, more, names.rstrip(", ")), inputs, [f("y", y)])


nbits("nbits_4", 3, 32, 5, 4, 16, "none")
nbits("nbits_4_tail", 2, 40, 3, 4, 16, "packed")  # three blocks, of which the last is half full
nbits("nbits_4_float", 2, 32, 3, 4, 32, "float", bias=True)
nbits("nbits_4_level", 3, 64, 5, 4, 32, "packed", bias=True, level=4)
nbits("nbits_4_level_tail", 2, 40, 3, 4, 16, "none", level=4)  # three blocks, of which the last is half full
nbits("nbits_8", 2, 48, 3, 8, 16, "packed")
nbits("nbits_2", 2, 64, 3, 2, 16, "packed", bias=True)


def rotated(head, place, cosines, sines):
    half = len(head) // 2
    pairs = list(zip(head[:half], head[half:], cosines[place], sines[place]))
    return [a * c - b * s for a, b, c, s in pairs] + [b * c + a * s for a, b, c, s in pairs]


def grouped(name, batch, positions, past, lengths, heads, groups, size, packed=False, rotary=False, window=-1, softcap=0,
            scale=0, bias=False):
    """`lengths`: of each sequence how many keys it has, those of this call included."""
    total = past + positions
    q, k, v = rand(batch, positions, heads, size), rand(batch, positions, groups, size), rand(batch, positions, groups, size)
    before = [rand(batch, groups, past, size) for _ in range(2)]
    cosines, sines, added = rand(total, size // 2), rand(total, size // 2), rand(1, heads, positions, total)
    begin = [0 if past == 0 else length - positions for length in lengths]
    turn = lambda head, b, s: rotated(head, begin[b] + s, cosines, sines) if rotary else head
    # Behind the last key of a sequence stays what was there, and zeros.
    caches = [[[[before[side][b][g][j] if j < past else [0.0] * size for j in range(total)] for g in range(groups)]
               for b in range(batch)] for side in range(2)]
    for b in range(batch):
        for s in range(positions):
            for g in range(groups):
                caches[0][b][g][begin[b] + s] = turn(k[b][s][g], b, s)
                caches[1][b][g][begin[b] + s] = v[b][s][g]

    def attend(b, s, h):
        head, own = turn(q[b][s][h], b, s), begin[b] + s
        keys, values = caches[0][b][h * groups // heads], caches[1][b][h * groups // heads]
        scores = {}
        for j in range(own + 1):
            if window > 0 and j <= own - window:
                continue
            score = sum(x * y for x, y in zip(head, keys[j])) * (scale or 1 / math.sqrt(size))
            score = softcap * math.tanh(score / softcap) if softcap else score
            scores[j] = math.exp(score + (added[0][h][s][j] if bias else 0))
        return [sum(e * values[j][c] for j, e in scores.items()) / sum(scores.values()) for c in range(size)]

    join = lambda parts: [e for part in parts for e in part]
    y = [[join(attend(b, s, h) for h in range(heads)) for s in range(positions)] for b in range(batch)]
    flat = lambda x: [[join(row) for row in part] for part in x]
    if packed:
        inputs, names = [f("q", [[join(q[b][s] + k[b][s] + v[b][s]) for s in range(positions)] for b in range(batch)])], "q, , "
    else:
        inputs, names = [f("q", flat(q)), f("k", flat(k)), f("v", flat(v))], "q, k, v"
    if past:
        inputs += [f("pk", before[0]), f("pv", before[1])]
    inputs.append(("n", "int32", [length - 1 for length in lengths]))
    names += ", %s, n, all" % ("pk, pv" if past else ", ")
    if rotary:
        inputs += [f("c", cosines), f("s", sines)]
        names += ", c, s"
    if bias:
        inputs.append(f("e", added))
        names += (", , " if not rotary else "") + ", , e"
    attributes = "num_heads = %d, kv_num_heads = %d, do_rotary = %d, local_window_size = %d, softcap = %f, scale = %f" % (
        heads, groups, rotary, window, softcap, scale)
    case(name, """t = Constant <value_ints = [%d]> () all = Cast <to = 6> (t)
         y, key, value = com.microsoft.GroupQueryAttention <%s> (%s)""" % (total, attributes, names), inputs,
         [f("y", y), f("key", caches[0]), f("value", caches[1])])


grouped("prompt", 2, 4, 0, [4, 4], 4, 2, 6)
grouped("prompt_packed", 2, 4, 0, [4, 4], 4, 2, 6, packed=True, rotary=True)
grouped("next", 2, 1, 5, [6, 6], 6, 2, 4, rotary=True)
grouped("next_lengths", 3, 1, 5, [6, 4, 2], 4, 1, 4, rotary=True)
grouped("next_few", 1, 3, 4, [7], 4, 2, 4, rotary=True)
grouped("window", 1, 6, 0, [6], 2, 2, 4, window=3)
grouped("softcap", 1, 3, 2, [5], 2, 1, 4, softcap=1.5, scale=0.75)
grouped("bias", 2, 2, 3, [5, 5], 4, 2, 4, bias=True)
