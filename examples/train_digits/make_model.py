#!/usr/bin/env python3
"""Writes model.onnx of this folder: a network 64-128-10 that has not been trained.

    pip install numpy onnx
    python examples/train_digits/make_model.py

Weights and biases as PyTorch starts linear layers: uniform within 1/sqrt(inputs). A fixed seed, so the file is the same.
"""
import pathlib

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save

HERE = pathlib.Path(__file__).resolve().parent
rng = np.random.Generator(np.random.Philox(0))


def linear(name, inputs, outputs):
    bound = 1 / np.sqrt(inputs)
    weight = rng.uniform(-bound, bound, (outputs, inputs)).astype(np.float32)
    bias = rng.uniform(-bound, bound, outputs).astype(np.float32)
    return [numpy_helper.from_array(weight, f'{name}.weight'), numpy_helper.from_array(bias, f'{name}.bias')]


nodes = [
    helper.make_node('Flatten', ['image'], ['flat'], 'flatten', axis=1),
    helper.make_node('Gemm', ['flat', 'hidden.weight', 'hidden.bias'], ['before'], 'hidden', transB=1),
    helper.make_node('Relu', ['before'], ['after'], 'relu'),
    helper.make_node('Gemm', ['after', 'out.weight', 'out.bias'], ['logits'], 'out', transB=1),
]
graph = helper.make_graph(
    nodes, 'digits', [helper.make_tensor_value_info('image', TensorProto.FLOAT, ['batch', 1, 8, 8])],
    [helper.make_tensor_value_info('logits', TensorProto.FLOAT, ['batch', 10])],
    linear('hidden', 64, 128) + linear('out', 128, 10))
model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 20)], producer_name='make_model.py')
model.ir_version = 9
checker.check_model(model, full_check=True)
save(model, HERE / 'model.onnx')
