#!/usr/bin/env python3
"""Recurrent layers beside ONNX Runtime: recurrent.py SPRIG FOLDER [--seconds 1]

Writes LSTM, GRU and RNN models of several sizes into FOLDER and times each with both, one thread, one after the other:
least time of a call, and what the compilation took. Pin it to one processor.
"""
import argparse
import json
import pathlib
import subprocess
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

GATES = {'LSTM': 4, 'GRU': 3, 'RNN': 1}
# kind, features, hidden, steps, directions, layers, further attributes
CASES = [
    ('LSTM', 32, 64, 50, 1, 1, {}),
    ('LSTM', 64, 64, 100, 1, 1, {}),
    ('LSTM', 128, 512, 20, 1, 1, {}),
    ('LSTM', 16, 50, 30, 2, 2, {}),
    ('GRU', 64, 128, 50, 1, 1, {}),
    ('GRU', 64, 128, 50, 1, 1, {'linear_before_reset': 1}),
    ('GRU', 8, 16, 100, 1, 1, {}),
    ('RNN', 32, 100, 40, 1, 1, {}),
]


def model(kind, features, hidden, steps, directions, layers, attributes, batch):
    rng = np.random.default_rng(1)
    nodes, values, x = [], [], 'x'

    def parameter(name, *shape):
        data = rng.standard_normal(shape) / np.sqrt(hidden)
        values.append(numpy_helper.from_array(data.astype(np.float32), name))
        return name

    for i in range(layers):
        rows = GATES[kind] * hidden
        inputs = [x, parameter(f'w{i}', directions, rows, features), parameter(f'r{i}', directions, rows, hidden),
                  parameter(f'b{i}', directions, 2 * rows)]
        nodes.append(helper.make_node(kind, inputs, [f'y{i}'], hidden_size=hidden,
                                      direction='bidirectional' if directions == 2 else 'forward', **attributes))
        nodes.append(helper.make_node('Transpose', [f'y{i}'], [f't{i}'], perm=[0, 2, 1, 3]))
        values.append(numpy_helper.from_array(np.array([steps, batch, directions * hidden], np.int64), f's{i}'))
        x = 'out' if i + 1 == layers else f'x{i}'
        nodes.append(helper.make_node('Reshape', [f't{i}', f's{i}'], [x]))
        features = directions * hidden

    def value(name, *shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    graph = helper.make_graph(nodes, kind, [value('x', steps, batch, values[0].dims[2])],
                              [value('out', steps, batch, directions * hidden)], values)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)


def runtime_time(path, seconds):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=['CPUExecutionProvider'])
    x = np.random.default_rng(2).standard_normal(session.get_inputs()[0].shape).astype(np.float32)
    binding = session.io_binding()
    binding.bind_cpu_input('x', x)
    out = onnxruntime.OrtValue.ortvalue_from_shape_and_type(session.get_outputs()[0].shape, np.float32)
    binding.bind_ortvalue_output('out', out)
    best, end = float('inf'), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        session.run_with_iobinding(binding)
        best = min(best, time.perf_counter() - start)
    return best * 1e6


def sprig_time(sprig, path, seconds):
    done = subprocess.run([sprig, 'bench', str(path), '--threads', '1', '--seconds', str(seconds), '--format', 'json'],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('sprig')
    parser.add_argument('folder', type=pathlib.Path)
    parser.add_argument('--seconds', type=float, default=1)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    print('| layer | steps | batch | ONNX Runtime µs | Sprig µs | ratio | compile ms |\n|---|---|---|---|---|---|---|')
    ratios = []
    for case in CASES:
        for batch in (1, 16):
            kind, features, hidden, steps, directions, layers, attributes = case
            path = options.folder / f'{kind}_{features}_{hidden}_{steps}_{directions}_{layers}_{len(attributes)}_{batch}.onnx'
            onnx.save(model(*case, batch), path)
            peer = runtime_time(path, options.seconds)
            report = sprig_time(options.sprig, path, options.seconds)
            own, compiled = report['entries'][0]['min_us'], report['compile_ms']
            ratios.append(peer / own)
            name = f'{kind} {features} to {hidden}' + (' both ways' if directions == 2 else '')
            name += f', {layers} layers' if layers > 1 else ''
            name += ', linear before reset' if attributes else ''
            print(f'| {name} | {steps} | {batch} | {peer:.1f} | {own:.1f} | {peer / own:.2f} | {compiled:.0f} |', flush=True)
    print(f'\nGeometric mean of the ratios: {np.exp(np.mean(np.log(ratios))):.2f}')


if __name__ == '__main__':
    main()
