#!/usr/bin/env python3
"""Weights of four bits beside eight, f32 and ONNX Runtime: narrow.py SPRIG MODELS FOLDER [--seconds 0.5] [--nets A,B]

Of MODELS/NET/model.onnx, and of products and a decoder's layers that it makes, `sprig quantize` writes forms into FOLDER:
weights of four bits in groups with activations in f32 or in eight bits by groups (MatMulNBits, accuracy_level 0 and 4),
weights of four and of eight bits by channel with activations in eight. Times all, and ONNX Runtime on the float model and
on MatMulNBits, on one thread, in turn: least time of a call over several rounds. Pin it to one processor. Figures are
times over that of Sprig in f32: above 1 is faster.
"""
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from quantized import ROUNDS, arguments, inputs_of, least, runtime_call, runtime_session, sprig_time

NETS = 'mlp_784_256_128_10,mlp_1000_512_256_10,product_1024,product_2048,product_4096,decoder_4x512'
BATCHES = (1, 64)


class Maker:
    """A model of matrix products on [batch, width]."""

    def __init__(self, seed=1):
        self.rng, self.nodes, self.weights = np.random.default_rng(seed), [], []

    def node(self, op, *inputs):
        self.nodes.append(helper.make_node(op, list(inputs), [f'v{len(self.nodes)}'], name=f'{op}{len(self.nodes)}'))
        return self.nodes[-1].output[0]

    def product(self, x, width, columns):
        name = f'w{len(self.weights)}'
        weight = (self.rng.standard_normal((width, columns)) / np.sqrt(width)).astype(np.float32)
        self.weights.append(numpy_helper.from_array(weight, name))
        return self.node('MatMul', x, name)

    def save(self, path, result, width, columns):
        value = lambda name, size: helper.make_tensor_value_info(name, TensorProto.FLOAT, ['batch', size])
        self.nodes[-1].output[0] = 'y'
        graph = helper.make_graph(self.nodes, 'g', [value('x', width)], [value('y', columns)], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)
        onnx.save(model, str(path))


def made(net, path):
    maker = Maker()
    kind, size = net.split('_')
    if kind == 'product':
        width = int(size)
        maker.save(path, maker.product('x', width, width), width, width)
        return
    blocks, width = map(int, size.split('x'))  # what a decoder multiplies for a token, attention aside
    x = 'x'
    for _ in range(blocks):
        values = maker.product(x, width, 3 * width)
        x = maker.node('Add', x, maker.product(values, 3 * width, width))
        x = maker.node('Add', x, maker.product(maker.node('Relu', maker.product(x, width, 4 * width)), 4 * width, width))
    maker.save(path, x, width, width)


def forms(sprig, model, folder, net):
    samples = folder / f'{net}.samples'
    if not samples.exists():
        samples.mkdir()
        session = runtime_session(model)
        for name, value in inputs_of(session, 32, 3).items():
            np.save(samples / f'{name}.npy', value)
    paths = {}
    for form, flags in (('four', ['--mode', 'weights', '--bits', '4', '--symmetric']),
                        ('fourByEight', ['--mode', 'static', '--bits', '4', '--data', samples]),
                        ('eight', ['--mode', 'static', '--data', samples])):
        paths[form] = folder / f'{net}.{form}.onnx'
        if not paths[form].exists():
            subprocess.run([sprig, 'quantize', model, *flags, '-o', paths[form]], check=True, capture_output=True)
    level = paths['level'] = folder / f'{net}.level.onnx'
    model = onnx.load(str(paths['four']))
    for node in model.graph.node:
        if node.op_type == 'MatMulNBits':
            node.attribute.append(helper.make_attribute('accuracy_level', 4))
    onnx.save(model, str(level))
    return paths


def main():
    options = arguments(__doc__, NETS)
    print('| network | batch | µs in f32 | groups of four bits, f32 | groups of four, eight | channels of four, eight | '
          'channels of eight, eight | ONNX Runtime f32 | its groups, f32 | its groups, eight |')
    print('|---' * 10 + '|')
    for net in options.nets.split(','):
        model = options.models / net / 'model.onnx'
        if not model.exists():
            model = options.folder / f'{net}.onnx'
            if not model.exists():
                made(net, model)
        paths = forms(options.sprig, model, options.folder, net)
        for batch in BATCHES:
            peers = {'ort': model, 'ort four': paths['four'], 'ort level': paths['level']}
            calls = {name: runtime_call(path, batch, '') for name, path in peers.items()}
            own = {'f32': model} | paths
            best = {}
            for _ in range(ROUNDS):
                for name, call in calls.items():
                    best[name] = min(best.get(name, float('inf')), least(call, options.seconds))
                for name, path in own.items():
                    best[name] = min(best.get(name, float('inf')), sprig_time(options.sprig, path, batch, options.seconds))
            order = ('four', 'level', 'fourByEight', 'eight', 'ort', 'ort four', 'ort level')
            print(f"| {net} | {batch} | {best['f32']:.1f} | " +
                  ' | '.join(f"{best['f32'] / best[name]:.2f}" for name in order) + ' |', flush=True)


if __name__ == '__main__':
    main()
