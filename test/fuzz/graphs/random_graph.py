"""Random ONNX graphs: many operators, ranks 0 to 5, shapes that broadcast, opsets 11 to 21, decided by a seed alone.

Values stay small, so that errors do, and what jumps (comparisons, rounding, the place of a maximum) takes only values that
are exact: inputs are multiples of 1/8, and moving, negating, choosing keep them so.
"""
import dataclasses
import math
import random

from onnx_bytes import BOOL, FLOAT, INT64
import onnx_bytes

OPSETS = (11, 12, 13, 14, 16, 17, 18, 20, 21)
SIZES = (1, 2, 3, 4, 5, 8, 15, 16, 17, 33)
MOST_ELEMENTS = 6000
MOST = 16.0  # values are brought back below


@dataclasses.dataclass
class Value:
    name: str
    dtype: int
    shape: tuple
    bound: float = 2.0  # of magnitudes
    bits: int = 0  # of an exact value, 0 for others


class Graph:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.opset = self.pick(OPSETS)
        self.nodes, self.initializers, self.inputs = [], [], []
        self.values, self.used = [], set()
        self.operators = []
        full = self.shape(self.pick((0, 1, 2, 2, 3, 3, 4, 4, 4, 5)))
        for shape in [full, self.narrowed(full), full][:self.pick((1, 2, 3))]:
            self.add_input(FLOAT, shape)
        if self.chance(4):
            self.add_input(INT64, full)
        if self.chance(4):
            self.add_input(BOOL, self.narrowed(full))

    # Choices.
    def pick(self, items):
        return items[self.random.randrange(len(items))]

    def chance(self, n):
        return self.random.randrange(n) == 0

    def shape(self, rank):
        while True:
            shape = tuple(self.pick(SIZES) for _ in range(rank))
            if math.prod(shape) <= MOST_ELEMENTS:
                return shape

    def narrowed(self, shape):
        """One that broadcasts to it."""
        shape = tuple(1 if self.chance(3) else d for d in shape)
        return shape[self.random.randrange(len(shape) + 1):] if self.chance(3) else shape

    def numbers(self, dtype, count):
        if dtype == FLOAT:
            return [self.random.randint(-16, 16) / 8 for _ in range(count)]
        return [bool(self.random.randrange(2)) if dtype == BOOL else self.random.randint(-9, 9) for _ in range(count)]

    # Parts of the graph.
    def add_input(self, dtype, shape):
        value = Value(f'x{len(self.inputs)}', dtype, shape, 9.0 if dtype == INT64 else 2.0, 6)
        self.inputs.append((value, self.numbers(dtype, math.prod(shape))))
        self.values.append(value)

    def constant(self, dtype, shape, values=None):
        values = self.numbers(dtype, math.prod(shape)) if values is None else list(values)
        value = Value(f'c{len(self.initializers)}', dtype, tuple(shape), max([abs(v) for v in values], default=0), 6)
        self.initializers.append((value, values))
        return value

    def ints(self, values):
        return self.constant(INT64, (len(values),), values)

    def emit(self, op, inputs, *results, **attributes):
        """results: (shape, bound, bits) or those with a type in front; the first one is returned."""
        outputs = []
        for result in results:
            dtype = FLOAT if len(result) == 3 else result[0]
            outputs.append(Value(f'v{len(self.nodes)}_{len(outputs)}', dtype, tuple(result[-3]), *result[-2:]))
        self.nodes.append(onnx_bytes.node(op, [i.name if i else '' for i in inputs], [o.name for o in outputs], attributes))
        self.operators.append(op)
        self.used.update(i.name for i in inputs if i)
        self.values += outputs
        return outputs[0]

    def find(self, dtype=FLOAT, want=lambda value: True):
        """A value, mostly a late one; None where there is no such."""
        found = [v for v in self.values if v.dtype == dtype and want(v) and math.prod(v.shape) <= MOST_ELEMENTS]
        return found[-1 - min(self.random.randrange(len(found)), self.random.randrange(len(found)))] if found else None

    def partner(self, x, dtype=None):
        """One that broadcasts with x without growing."""
        dtype = dtype or x.dtype

        def fits(v):
            return len(v.shape) <= len(x.shape) and all(a in (1, b) for a, b in zip(v.shape[::-1], x.shape[::-1]))
        found = self.find(dtype, fits)
        return found if found and not self.chance(4) else self.constant(dtype, self.narrowed(x.shape))

    def grow(self, nodes):
        import operators
        while len(self.nodes) < nodes:
            self.pick(operators.ALL)(self)
            last = self.values[-1]
            if last.dtype == FLOAT and last.bound > MOST and len(self.nodes) < nodes:
                self.emit('Tanh', [last], (last.shape, 1.0, 0))
        return self

    # What comes out.
    def outputs(self):
        made = [v for v in self.values if v.name not in self.used and not v.name.startswith('x')]
        return made or self.values[-1:]

    def model(self):
        return onnx_bytes.model(
            self.opset, self.nodes,
            [onnx_bytes.tensor(v.dtype, v.shape, numbers, v.name) for v, numbers in self.initializers],
            [onnx_bytes.value_info(v.name, v.dtype, v.shape) for v, _ in self.inputs],
            [onnx_bytes.value_info(v.name, v.dtype, v.shape) for v in self.outputs()])
