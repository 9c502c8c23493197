#!/usr/bin/env python3
"""Trains the digits classifier of this folder and writes model.onnx (and, with --samples, the data beside it).

    pip install torch numpy onnx
    python examples/digits/train.py --data FOLDER [--samples]

FOLDER holds train-x.npy, train-y.npy, t10k-x.npy, t10k-y.npy (float32 Nx1x8x8 in 0..1, int64 N): the handwritten digits
of the UCI repository, see README.md. One thread and a fixed seed, so the same versions give the same file.
"""
import argparse
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent


def network():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(128, 10))


def train(net, x, y, epochs=20, batch=32):
    optimizer = torch.optim.Adam(net.parameters(), lr=0.001)
    for epoch in range(epochs):
        total = 0.0
        for rows in torch.randperm(len(x)).split(batch):
            loss = nn.functional.cross_entropy(net(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        print(f'epoch {epoch + 1:2}: loss {total / len(x):.4f}')


def export(net, path):
    """Writes the network by hand: names that a reader knows, a symbolic batch, softmax at the end."""
    weights = {'conv1': net[0], 'conv2': net[3], 'fc': net[7]}
    initializers = []
    for name, layer in weights.items():
        initializers.append(numpy_helper.from_array(layer.weight.detach().numpy(), f'{name}.weight'))
        initializers.append(numpy_helper.from_array(layer.bias.detach().numpy(), f'{name}.bias'))
    window = dict(kernel_shape=[2, 2], strides=[2, 2])
    conv = dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    nodes = [
        helper.make_node('Conv', ['image', 'conv1.weight', 'conv1.bias'], ['c1'], 'conv1', **conv),
        helper.make_node('Relu', ['c1'], ['r1'], 'relu1'),
        helper.make_node('MaxPool', ['r1'], ['p1'], 'pool1', **window),
        helper.make_node('Conv', ['p1', 'conv2.weight', 'conv2.bias'], ['c2'], 'conv2', **conv),
        helper.make_node('Relu', ['c2'], ['r2'], 'relu2'),
        helper.make_node('MaxPool', ['r2'], ['p2'], 'pool2', **window),
        helper.make_node('Flatten', ['p2'], ['flat'], 'flatten', axis=1),
        helper.make_node('Gemm', ['flat', 'fc.weight', 'fc.bias'], ['logits'], 'fc', transB=1),
        helper.make_node('Softmax', ['logits'], ['probabilities'], 'softmax', axis=1),
    ]
    graph = helper.make_graph(
        nodes, 'digits',
        [helper.make_tensor_value_info('image', TensorProto.FLOAT, ['batch', 1, 8, 8])],
        [helper.make_tensor_value_info('probabilities', TensorProto.FLOAT, ['batch', 10])],
        initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 20)], ir_version=10, producer_name='train.py')
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--data', type=pathlib.Path, required=True)
    p.add_argument('--samples', action='store_true', help='also write the test images to data/')
    a = p.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    x, y = (torch.from_numpy(np.load(a.data / f'train-{k}.npy')) for k in 'xy')
    test_x, test_y = (torch.from_numpy(np.load(a.data / f't10k-{k}.npy')) for k in 'xy')
    net = network()
    train(net, x, y)
    net.eval()
    with torch.no_grad():
        probabilities = net(test_x).softmax(1)
    right = (probabilities.argmax(1) == test_y).sum().item()
    print(f'test accuracy: {right} of {len(test_y)} = {100 * right / len(test_y):.2f}%')
    export(net, HERE / 'model.onnx')
    if a.samples:
        folder = HERE / 'data'
        folder.mkdir(exist_ok=True)
        with torch.no_grad():
            exact = net.double()(test_x.double()).softmax(1).float()
        # The layout of `sprig check --data`: inputs and the outputs to expect; labels are for people.
        np.save(folder / 'input_0.npy', test_x.numpy())
        np.save(folder / 'output_0.npy', exact.numpy())
        np.save(folder / 'labels.npy', test_y.numpy())


main()
