"""Test accuracy on the handwritten digits over three seeds: digits.py SPRIG DATA_FOLDER [FOLDER for the models].

Networks with PyTorch's default initialisation, 20 epochs, batch 32; DATA_FOLDER has train-x.npy and the others."""
import json
import pathlib
import subprocess
import sys
import tempfile

import torch
from torch import nn

NETS = {
    'MLP 64-128-10': lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)),
    'conv 16, 32': lambda: nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                         nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                                         nn.Linear(128, 10)),
}
RUNS = [
    ('MLP 64-128-10', 'SGD, lr 0.1, momentum 0.9', {'name': 'sgd', 'lr': .1, 'momentum': .9}),
    ('MLP 64-128-10', 'Adam, lr 0.001', {'name': 'adam', 'lr': .001}),
    ('conv 16, 32', 'Adam, lr 0.001', {'name': 'adam', 'lr': .001}),
]


def main():
    sprig, data = sys.argv[1], pathlib.Path(sys.argv[2])
    folder = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else tempfile.mkdtemp())
    print('| network | optimizer | test accuracy (seeds 0, 1, 2) | training loss in the last epoch |\n|---|---|---|---|')
    for net, text, optimizer in RUNS:
        accuracies, losses = [], []
        for seed in range(3):
            torch.manual_seed(seed)
            model = folder / f'model{seed}.onnx'
            torch.onnx.export(NETS[net]().eval(), (torch.zeros(2, 1, 8, 8),), model, dynamo=True, external_data=False,
                              verbose=False, dynamic_shapes=({0: torch.export.Dim('batch')},))
            config = folder / 'config.json'
            config.write_text(json.dumps({'loss': 'softmax_cross_entropy', 'optimizer': optimizer, 'batch': 32,
                                          'epochs': 20, 'seed': seed, 'eval': {'every': 0}}))
            done = subprocess.run([sprig, 'train', model, '--config', config, '--x', data / 'train-x.npy', '--y',
                                   data / 'train-y.npy', '--eval-x', data / 't10k-x.npy', '--eval-y',
                                   data / 't10k-y.npy', '--format', 'json', '-q'], capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)
            summary = json.loads(done.stdout)
            accuracies.append(100 * summary['eval_accuracy'])
            losses.append(summary['epoch_loss'])
        mean = sum(accuracies) / 3
        print(f'| {net} | {text} | {mean:.2f}% ({", ".join(f"{a:.2f}" for a in accuracies)}) | {sum(losses) / 3:.4f} |',
              flush=True)


main()
