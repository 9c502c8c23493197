"""Sweeps over batches and rates beside PyTorch: sweep.py SPRIG batches|rates [--network lenet|resnet18] [--width 8] ...

Both train the same network on the same images from weights of the same distribution (not the same numbers), one rank, SGD; images
are those of --data, a folder in the MNIST format, else made here. SPRIG is build/bin/sprig, whose `bench sweep` this runs. Prints
a row for each run: loss of the last epoch, accuracy, seconds an epoch.
"""
import argparse
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

import models

SIDE, CLASSES = 28, 10


def write_idx(path, array):
    with open(path, 'wb') as f:
        f.write(struct.pack('>BBBB', 0, 0, 8, array.ndim) + struct.pack(f'>{array.ndim}I', *array.shape))
        f.write(array.tobytes())


def read_idx(path):
    content = path.read_bytes()
    shape = struct.unpack(f'>{content[3]}I', content[4:4 + 4 * content[3]])
    return np.frombuffer(content, np.uint8, offset=4 + 4 * content[3]).reshape(shape)


def make_images(folder, samples, tests):
    """Ten smooth patterns, each a few pixels from its place, under a part of another one and noise."""
    random = np.random.default_rng(1)
    grid = torch.from_numpy(random.random((CLASSES, 1, 7, 7)))
    patterns = (2 * (F.interpolate(grid, (SIDE, SIDE), mode='bilinear', align_corners=True) - .45)).clamp(0, 1)[:, 0].numpy()
    for part, count in (('train', samples), ('t10k', tests)):
        labels, images = random.integers(0, CLASSES, count, np.uint8), np.empty((count, SIDE, SIDE), np.uint8)
        for i, label in enumerate(labels):
            own = np.roll(patterns[label], random.integers(-3, 4, 2), (0, 1))
            share = .6 * random.random()
            mixed = (1 - share) * own + share * patterns[random.integers(CLASSES)] + .2 * random.standard_normal((SIDE, SIDE))
            images[i] = np.round(255 * mixed.clip(0, 1))
        write_idx(folder / f'{part}-images-idx3-ubyte', images)
        write_idx(folder / f'{part}-labels-idx1-ubyte', labels)


def load(folder, part, count):
    images = read_idx(folder / f'{part}-images-idx3-ubyte')[:count]
    return (torch.from_numpy(images.astype(np.float32) / 255)[:, None],
            torch.from_numpy(read_idx(folder / f'{part}-labels-idx1-ubyte')[:count].astype(np.int64)))


def network(a):
    net = models.LeNet() if a.network == 'lenet' else models.resnet(tuple(a.width * k for k in (1, 2, 4, 8)))
    for layer in net.modules():
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            nn.init.normal_(layer.weight, 0, math.sqrt(2 / layer.weight[0].numel()))
            nn.init.zeros_(layer.bias)
    return net


def train(a, sets, batch, rate):
    """(loss, accuracy %, s an epoch)"""
    torch.manual_seed(1)
    net, (x, y), (tx, ty) = network(a), *sets
    optimizer = torch.optim.SGD(net.parameters(), rate)
    seconds = 0
    for _ in range(a.epochs):
        start, total = time.perf_counter(), 0
        for part in torch.randperm(len(x)).split(batch):
            loss = F.cross_entropy(net(x[part]), y[part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(part)
        seconds += time.perf_counter() - start
        if not math.isfinite(total):
            return None
    net.eval()
    with torch.no_grad():
        right = sum(int((net(p).argmax(1) == q).sum()) for p, q in zip(tx.split(256), ty.split(256)))
    return total / len(x), 100 * right / len(tx), seconds / a.epochs


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('sprig')
    p.add_argument('over', choices=('batches', 'rates'))
    p.add_argument('--network', default='resnet18', choices=('lenet', 'resnet18'))
    p.add_argument('--width', type=int, default=8)
    p.add_argument('--data', type=pathlib.Path)
    p.add_argument('--batch', type=int, default=16)
    p.add_argument('--rate', default=None, help='one, or several of rates, by commas')
    p.add_argument('--epochs', type=int, default=4)
    p.add_argument('--samples', type=int, default=1024)
    p.add_argument('--tests', type=int, default=500)
    p.add_argument('--threads', type=int, default=2)
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    folder = a.data or pathlib.Path(tempfile.mkdtemp())
    if not a.data:
        make_images(folder, a.samples, a.tests)
    command = [a.sprig, 'bench', 'sweep', a.over, '--network', a.network, '--ranks', '1', '--data', folder, '--batch', str(a.batch),
               '--epochs', str(a.epochs), '--samples', str(a.samples), '--tests', str(a.tests), '--threads', str(a.threads),
               '--format', 'json', '-q']
    command += ['--width', str(a.width)] if a.network == 'resnet18' else []
    command += ['--rate', a.rate] if a.rate else []
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr or done.stdout)
    rows = json.loads(done.stdout)['tables'][a.over]
    sets = load(folder, 'train', a.samples), load(folder, 't10k', a.tests)
    print('| batch | rate | loss | PyTorch | accuracy % | PyTorch | s an epoch | PyTorch |\n|---|---|---|---|---|---|---|---|')
    for row in rows:
        batch, rate = (row['batch'], float(a.rate or .2)) if a.over == 'batches' else (a.batch, row['rate'])
        key = '' if a.over == 'batches' else f', batch {batch}'
        cell = lambda value, digits: f'{value:.{digits}f}' if isinstance(value, (int, float)) else 'diverged'
        theirs = train(a, sets, batch, rate) or ('', '', '')
        ours = row['loss' + key], row['accuracy %' + key], row.get('s an epoch', '')
        print(f'| {batch} | {rate:g} | {cell(ours[0], 4)} | {cell(theirs[0], 4)} | {cell(ours[1], 1)} | {cell(theirs[1], 1)} | '
              f'{cell(ours[2], 2) if ours[2] != "" else ""} | {cell(theirs[2], 2)} |', flush=True)


main()
