"""Writes test cases of operators that draw random numbers, to the folder that the command line names: Philox4x32-10 (Salmon
et al. 2011) and the formulas of docs/numerics.md, written down again. The numbers are held to their distributions here.
"""
import math

from onnx_cases import case

MASK = 2**32 - 1


def block(index, stream, counter, key):
    c, k = [index & MASK, stream, counter & MASK, counter >> 32], [key & MASK, key >> 32]
    for _ in range(10):
        p, q = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [(q >> 32) ^ c[1] ^ k[0], q & MASK, (p >> 32) ^ c[3] ^ k[1], p & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


# The first vectors that the authors publish.
assert block(0, 0, 0, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


def words(count, seed, counter=0, stream=0):
    return [block(i // 4, stream, counter, seed)[i % 4] for i in range(count)]


def uniform(count, seed, counter=0, stream=0):
    return [(w >> 8) / 2**24 for w in words(count, seed, counter, stream)]


def normal(count, seed, counter=0):
    pairs = zip(uniform(count, seed, counter), uniform(count, seed, counter, 1))
    return [math.sqrt(-2 * math.log(1 - u)) * math.cos(2 * math.pi * v) for u, v in pairs]


def moments(values):
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((v - mean)**2 for v in values) / len(values))


def rows(values, width):
    return [values[i:i + width] for i in range(0, len(values), width)]


def near(a, b, within):
    assert abs(a - b) < within, (a, b)


COUNT = 4096
u = uniform(COUNT, 7)
near(moments(u)[0], 0.5, 0.02)
near(moments(u)[1], math.sqrt(1 / 12), 0.01)
case("uniform", "u = RandomUniform <shape = [64, 64], low = -1.0, high = 3.0, seed = 7.0> () y = Identity (u)", [],
     [("y", "float", rows([4 * v - 1 for v in u], 64))])
# The second node that draws takes the next counter, whatever its seed.
g = normal(COUNT, 9, 1)
near(moments(g)[0], 0, 0.05)
near(moments(g)[1], 1, 0.04)
near(sum(abs(v) < 1 for v in g) / COUNT, 0.6827, 0.03)
x = [[0.0] * 64 for _ in range(64)]
case("normal_like", "u = RandomUniformLike <seed = 7.0> (x) y = RandomNormalLike <mean = 2.0, scale = 0.5, seed = 9.0> (x)",
     [("x", "float", x)], [("u", "float", rows(u, 64)), ("y", "float", rows([v / 2 + 2 for v in g], 64))])

p = [[(i % 17) / 16 for i in range(64)] for _ in range(64)]
drawn = [float(a < b) for a, b in zip(uniform(COUNT, 3), [v for row in p for v in row])]
near(sum(drawn), sum(map(sum, p)), 100)
case("bernoulli", "y = Bernoulli <seed = 3.0> (p)", [("p", "float", p)], [("y", "float", rows(drawn, 64))], opset=15)
case("bernoulli_integers", "y = Bernoulli <seed = 3.0, dtype = 7> (p)", [("p", "float", p)],
     [("y", "int64", rows([int(v) for v in drawn], 64))], opset=15)

# Weights 1, 2, 3 and 4 of 10.
weights = [math.log(w) for w in (1, 2, 3, 4)]
gumbels = [-math.log(max(-math.log(1 - v), 2**-25)) for v in uniform(4 * 1000, 5)]
scores = [[w + g for w, g in zip(weights, group)] for group in rows(gumbels, 4)]
best = [row.index(max(row)) for row in scores]
for i in range(4):
    near(best.count(i) / 1000, (i + 1) / 10, 0.05)
case("multinomial", "y = Multinomial <sample_size = 1000, seed = 5.0> (x)", [("x", "float", [weights])],
     [("y", "int32", [best])])

x = [[i + 1.0 for i in range(64)] for _ in range(64)]
kept = [w >= 2**30 for w in words(COUNT, 11)]
near(sum(kept) / COUNT, 0.75, 0.03)
case("dropout", """r = Constant <value_float = 0.25> () t = Constant <value = bool {1}> ()
     y, m = Dropout <seed = 11> (x, r, t) k = Cast <to = 1> (m)""", [("x", "float", x)],
     [("y", "float", rows([v / 0.75 if k else 0.0 for v, k in zip([v for row in x for v in row], kept)], 64)),
      ("k", "float", rows([float(k) for k in kept], 64))])

# Each step of a loop draws anew.
steps = [uniform(6, 2, i) for i in range(9)]
case("loop", """n = Constant <value_int = 9> ()
     z = Sub (x, x)
     y = Loop (n, , z) <body = step (int64 i, bool c, float[6] s) => (bool d, float[6] t) {
       d = Identity (c) v = RandomUniformLike <seed = 2.0> (s) t = Add (s, v)
     }>""", [("x", "float", [1.0] * 6)], [("y", "float", [sum(v) for v in zip(*steps)])])
