#!/usr/bin/env python3
"""Writes small networks as PyTorch exports them, by default and for training: make-exports.py FOLDER

For test/Cli/train-allow.test, which has what `sprig train` says of each. Needs torch, onnx and onnxscript
(made with PyTorch 2.9.1). Traces of the source are taken out of the metadata.
"""
import copy
import logging
import pathlib
import sys
import warnings

import onnx
import torch
from torch import nn

warnings.filterwarnings('ignore')
logging.disable(logging.CRITICAL)


class Norms(nn.Module):
    """Batch norms behind products: folded."""

    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(1, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4)
        self.conv2, self.bn2 = nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        x = torch.relu(self.bn1(self.conv1(x)))
        return self.fc(torch.relu(self.bn2(self.conv2(x))).mean((2, 3)))


class Layers(nn.Module):
    """Equal initial values of several layers: merged. Dropouts: left out."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Dropout(0.1), nn.Linear(8, 8), nn.LayerNorm(8), nn.PReLU(), nn.Dropout(0.3),
                                  nn.Linear(8, 8), nn.LayerNorm(8), nn.PReLU(), nn.Linear(8, 3))
        for layer in self.body:
            if isinstance(layer, nn.Linear):
                nn.init.zeros_(layer.bias)

    def forward(self, x):
        return self.body(x)


class Copies(nn.Module):
    """Layers that start as copies of one, as those of nn.TransformerEncoder do: merged."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(copy.deepcopy(layer) for layer in [nn.Linear(8, 8)] * 2)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.head(x)


class Tied(nn.Module):
    """A head with the embedding's weight, written as its transpose: untied. The mask is a buffer."""

    def __init__(self):
        super().__init__()
        self.embedding, self.hidden, self.head = nn.Embedding(6, 8), nn.Linear(8, 8), nn.Linear(8, 6, bias=False)
        self.head.weight = self.embedding.weight
        self.register_buffer('mask', torch.triu(torch.full((5, 5), float('-inf')), 1))

    def forward(self, tokens):
        x = self.embedding(tokens)
        x = torch.softmax(x @ x.transpose(1, 2) + self.mask, -1) @ x
        return self.head(torch.relu(self.hidden(x)))


class Shared(nn.Module):
    """One layer that runs three times: shared by the model itself."""

    def __init__(self):
        super().__init__()
        self.layer, self.norm, self.head = nn.Linear(8, 8), nn.LayerNorm(8), nn.Linear(8, 1)

    def forward(self, x):
        for _ in range(3):
            x = self.norm(torch.relu(self.layer(x)))
        return self.head(x)


class Parametrized(nn.Module):
    """A weight norm: the newer exporter computes the weight."""

    def __init__(self):
        super().__init__()
        self.conv, self.head = nn.utils.parametrizations.weight_norm(nn.Conv1d(2, 4, 3)), nn.Linear(4, 3)

    def forward(self, x):
        return self.head(torch.relu(self.conv(x)).mean(-1))


NETS = {
    'norms': (Norms, torch.randn(4, 1, 6, 6)),
    'layers': (Layers, torch.randn(4, 8)),
    'copies': (Copies, torch.randn(4, 8)),
    'tied': (Tied, torch.randint(0, 6, (4, 5))),
    'shared': (Shared, torch.randn(4, 8)),
    'parametrized': (Parametrized, torch.randn(4, 2, 9)),
}


def export(net, sample, path, exporter, training):
    net.train(training)
    names = {'input_names': ['x'], 'output_names': ['y']}
    if exporter == 'script':
        options = {'training': torch.onnx.TrainingMode.TRAINING, 'do_constant_folding': False} if training else {}
        torch.onnx.export(net, (sample,), path, dynamo=False, **names, **options)
    else:
        options = {'optimize': False} if training else {}
        torch.onnx.export(net, (sample,), path, dynamo=True, external_data=False, verbose=False, **names, **options)
    model = onnx.load(path)
    for node in model.graph.node:
        node.doc_string = ''
        kept = [entry for entry in node.metadata_props if 'stack_trace' not in entry.key and 'fx_node' not in entry.key]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    onnx.save(model, path)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, (make, sample) in NETS.items():
        for exporter in 'script', 'dynamo':
            for training in False, True:
                torch.manual_seed(1)
                export(make(), sample, str(folder / f"{name}-{exporter}{'-train' if training else ''}.onnx"), exporter,
                       training)


main()
