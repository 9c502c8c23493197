#!/usr/bin/env python3
"""Trains the digits network of an example with every optimizer, loss and schedule, and beside it in double precision.

    train_double.py SPRIG FOLDER EXAMPLE [NAME...]

The reference is written down from the formulas of docs/training.md. Losses must agree at every step, and the final
weights, moving averages and counters too. Closes with `N passed, N failed`; counts nothing where NumPy is missing.
"""
import fnmatch
import json
import pathlib
import shutil
import struct
import subprocess
import sys

try:
    import numpy as np
except ImportError as error:
    print(f'NOTE: {error}: left out')
    print('0 passed, 0 failed')
    sys.exit(0)

sprig, folder, example = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
STEPS, BATCH = 12, 16
NAMES = ['hidden.weight', 'hidden.bias', 'out.weight', 'out.bias']


def idx(path):
    content = path.read_bytes()
    shape = struct.unpack(f'>{content[3]}i', content[4:4 + 4 * content[3]])
    return np.frombuffer(content, np.uint8, offset=4 + 4 * content[3]).reshape(shape)


def tensors(path):
    content = path.read_bytes()
    size, = struct.unpack('<Q', content[:8])
    types = {'F32': np.float32, 'F64': np.float64, 'I64': np.int64}
    return {name: np.frombuffer(content[8 + size:][slice(*entry['data_offsets'])], types[entry['dtype']]).reshape(entry['shape'])
            for name, entry in json.loads(content[8:8 + size]).items()}


images = idx(example / 'data' / 'train-images-idx3-ubyte').reshape(-1, 64)
classes = idx(example / 'data' / 'train-labels-idx1-ubyte').astype(np.int64)
x = (images / np.float32(255)).astype(np.float64)
rng = np.random.default_rng(0)
soft = rng.dirichlet(np.ones(10), len(x)).astype(np.float32)  # targets for losses against numbers


def loss_of(config, z, rows):
    """Loss and its gradient for one forward pass."""
    loss = config['loss'] if isinstance(config['loss'], dict) else {'name': config['loss']}
    kind, total = loss['name'], loss.get('reduction') == 'sum'
    n, k = z.shape
    if kind in ('softmax_cross_entropy', 'nll'):
        y = classes[rows]
        counted = (y != loss.get('ignore_index', -1)).astype(float)
        w = np.array(loss.get('class_weights', np.ones(k)), float)
        logp, p = z, None
        if kind == 'softmax_cross_entropy':
            logp = z - z.max(1, keepdims=True)
            logp = logp - np.log(np.exp(logp).sum(1, keepdims=True))
            p = np.exp(logp)
        smooth = loss.get('label_smoothing', 0)
        q = smooth / k * np.broadcast_to(w, (n, k)).copy()
        q[np.arange(n), y] += (1 - smooth) * w[y]
        q *= counted[:, None]
        scale = 1 if total else 1 / (w[y] * counted).sum()
        value, dz = -(q * logp).sum() * scale, -q * scale
        if p is not None:
            dz = (q.sum(1, keepdims=True) * p - q) * scale
    else:
        t = soft[rows].astype(np.float64)
        d = z - t
        if kind == 'mse':
            each, dz = d * d, 2 * d
        elif kind == 'l1':
            each, dz = abs(d), np.sign(d)
        elif kind == 'huber':
            delta = loss.get('delta', 1)
            each = np.where(abs(d) <= delta, d * d / 2, delta * (abs(d) - delta / 2))
            dz = np.clip(d, -delta, delta)
        elif kind == 'bce_with_logits':
            pos = loss.get('positive_weight', 1)
            soften = np.logaddexp(0, -z)  # -log(sigmoid(z))
            each = pos * t * soften + (1 - t) * (z + soften)
            s = 1 / (1 + np.exp(-z))
            dz = -pos * t * (1 - s) + (1 - t) * s
        elif kind == 'kl':
            each, dz = t * (np.log(t) - z), -t
        scale = 1 if total else 1 / n if loss.get('reduction') == 'batch_mean' else 1 / z.size
        value, dz = each.sum() * scale, dz * scale
    return value * loss.get('scale', 1), dz * loss.get('scale', 1)


def gradient(config, w, rows):
    before = x[rows] @ w['hidden.weight'].T + w['hidden.bias']
    h = np.maximum(before, 0)
    value, dz = loss_of(config, h @ w['out.weight'].T + w['out.bias'], rows)
    dh = (dz @ w['out.weight']) * (before > 0)
    return value, {'out.weight': dz.T @ h, 'out.bias': dz.sum(0), 'hidden.weight': dh.T @ x[rows], 'hidden.bias': dh.sum(0)}


def rate(config, t):
    lr, s = config['optimizer']['lr'], config.get('lr_schedule', {'name': 'constant'})
    if isinstance(s, list):
        return s[min(t, len(s) - 1)]
    name, total = s['name'], s.get('total_steps', STEPS)
    if name == 'step':
        return lr * s['gamma'] ** (t // s['step_size'])
    if name == 'multi_step':
        return lr * s['gamma'] ** sum(t >= m for m in s['milestones'])
    if name == 'exponential':
        return lr * s['gamma'] ** t
    if name == 'linear':
        return lr * (s['start_factor'] + (1 - s['start_factor']) * min(t, total) / total)
    if name == 'warmup':
        return lr * min(1, (t + 1) / s['warmup_steps'])
    if name == 'cosine':
        return s['min_lr'] + (lr - s['min_lr']) * (1 + np.cos(np.pi * min(t / total, 1))) / 2
    if name == 'warm_restarts':
        length = s['period']
        while t >= length:
            t, length = t - length, length * s.get('period_factor', 1)
        return s['min_lr'] + (lr - s['min_lr']) * (1 + np.cos(np.pi * t / length)) / 2
    if name == 'one_cycle':
        peak, rise = s['max_lr'], 0.3 * total - 1
        first = peak / 25
        a, b, share = (first, peak, t / rise) if t <= rise else (peak, first / 1e4, (t - rise) / (total - 1 - rise))
        return b + (a - b) * (1 + np.cos(np.pi * share)) / 2
    return lr


def update(o, w, g, m, lr, decay, t):
    """One parameter by one step; m keeps its state."""
    kind = o['name']
    b1, b2 = o.get('betas', (0.9, 0.99 if kind == 'lion' else 0.999))
    if kind in ('adamw', 'lion') or o.get('decoupled_weight_decay'):
        w = w - lr * decay * w
    else:
        g = g + decay * w
    if kind == 'sgd':
        mu = o.get('momentum', 0)
        if mu:
            m['v'] = mu * m['v'] + (1 - o.get('dampening', 0)) * g if 'v' in m else g
            g = g + mu * m['v'] if o.get('nesterov') else m['v']
        return w - lr * g
    if kind in ('adam', 'adamw'):
        m['m'] = b1 * m.get('m', 0) + (1 - b1) * g
        m['v'] = b2 * m.get('v', 0) + (1 - b2) * g * g
        return w - lr * (m['m'] / (1 - b1 ** t)) / (np.sqrt(m['v'] / (1 - b2 ** t)) + o.get('eps', 1e-8))
    if kind == 'nadam':
        mu, after = (b1 * (1 - 0.5 * 0.96 ** (at * o.get('momentum_decay', 0.004))) for at in (t, t + 1))
        m['p'] = m.get('p', 1) * mu
        m['m'] = b1 * m.get('m', 0) + (1 - b1) * g
        m['v'] = b2 * m.get('v', 0) + (1 - b2) * g * g
        moved = (1 - mu) / (1 - m['p']) * g + after / (1 - m['p'] * after) * m['m']
        return w - lr * moved / (np.sqrt(m['v'] / (1 - b2 ** t)) + o.get('eps', 1e-8))
    if kind == 'radam':
        m['m'] = b1 * m.get('m', 0) + (1 - b1) * g
        m['v'] = b2 * m.get('v', 0) + (1 - b2) * g * g
        most = 2 / (1 - b2) - 1
        rho, step = most - 2 * t * b2 ** t / (1 - b2 ** t), m['m'] / (1 - b1 ** t)
        if rho > 5:
            step = step * np.sqrt((rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho) * (1 - b2 ** t)) / (np.sqrt(m['v']) + o.get('eps', 1e-8))
        return w - lr * step
    if kind == 'rmsprop':
        a = o.get('alpha', 0.99)
        m['v'] = a * m.get('v', 0) + (1 - a) * g * g
        u = g / (np.sqrt(m['v']) + o.get('eps', 1e-8))
        if o.get('momentum'):
            u = m['b'] = o['momentum'] * m.get('b', 0) + u
        return w - lr * u
    if kind == 'adagrad':
        m['s'] = m.get('s', 0) + g * g
        return w - lr / (1 + (t - 1) * o.get('lr_decay', 0)) * g / (np.sqrt(m['s']) + o.get('eps', 1e-10))
    if kind == 'adadelta':
        rho, eps = o.get('rho', 0.9), o.get('eps', 1e-6)
        m['v'] = rho * m.get('v', 0) + (1 - rho) * g * g
        u = np.sqrt(m.get('a', 0) + eps) / np.sqrt(m['v'] + eps) * g
        m['a'] = rho * m.get('a', 0) + (1 - rho) * u * u
        return w - lr * u
    c = b1 * m.get('m', 0) + (1 - b1) * g
    m['m'] = b2 * m.get('m', 0) + (1 - b2) * g
    return w - lr * np.sign(c)


def reference(config, start):
    w = {name: value.astype(np.float64) for name, value in start.items()}
    average, memory, losses, norms = dict(w), {name: {} for name in w}, [], []
    passes, at = config.get('accumulate', 1), 0
    for t in range(STEPS):
        value, g = 0, {name: 0 for name in w}
        for _ in range(passes):
            part, gradients = gradient(config, w, slice(at, at + BATCH))
            at += BATCH
            value += part / passes
            g = {name: g[name] + gradients[name] / passes for name in w}
        norm = np.sqrt(sum((g[name] * g[name]).sum() for name in config.get('trainable', NAMES)))
        losses.append(value), norms.append(norm)
        if 'grad_clip_norm' in config:
            g = {name: v * min(1, config['grad_clip_norm'] / (norm + 1e-6)) for name, v in g.items()}
        if 'grad_clip_value' in config:
            g = {name: np.clip(v, -config['grad_clip_value'], config['grad_clip_value']) for name, v in g.items()}
        for name in config.get('trainable', NAMES):
            lr, decay = rate(config, t), config['optimizer'].get('weight_decay', 0)
            for group in config.get('groups', []):
                if fnmatch.fnmatchcase(name, group['match']):
                    lr, decay = lr * group.get('lr_scale', 1), group.get('weight_decay', decay)
                    break
            w[name] = update(config['optimizer'], w[name], g[name], memory[name], lr, decay, t + 1)
            average[name] = config.get('ema', 0) * average[name] + (1 - config.get('ema', 0)) * w[name]
    return losses, norms, w, average


def optimizer(name, lr, **more):
    return {'optimizer': {'name': name, 'lr': lr, **more}}


def schedule(name, **more):
    return {**optimizer('sgd', 0.1), 'lr_schedule': {'name': name, **more}}


SGD = optimizer('sgd', 0.1)
CASES = {
    'sgd': SGD, 'sgd-momentum': optimizer('sgd', 0.05, momentum=0.9, dampening=0.3, weight_decay=0.01),
    'sgd-nesterov': optimizer('sgd', 0.05, momentum=0.9, nesterov=True),
    'adam': optimizer('adam', 0.01, weight_decay=0.01), 'adamw': optimizer('adamw', 0.01, weight_decay=0.1, betas=[0.8, 0.95]),
    'rmsprop': optimizer('rmsprop', 0.001, eps=1e-3, weight_decay=0.01), 'rmsprop-momentum': optimizer('rmsprop', 0.001, momentum=0.5, alpha=0.9, eps=1e-3),
    'adagrad': optimizer('adagrad', 0.01, lr_decay=0.1, eps=1e-3, weight_decay=0.01), 'adadelta': optimizer('adadelta', 1.0, weight_decay=0.01),
    'lion': optimizer('lion', 0.001, weight_decay=0.1),
    'nadam': optimizer('nadam', 0.01, weight_decay=0.01), 'nadam-decoupled': optimizer('nadam', 0.01, weight_decay=0.1, decoupled_weight_decay=True, momentum_decay=0.5),
    'radam': optimizer('radam', 0.01, weight_decay=0.01), 'radam-decoupled': optimizer('radam', 0.01, weight_decay=0.1, decoupled_weight_decay=True, betas=[0.8, 0.95], eps=1e-6),
    'radam-clip-groups': {**optimizer('radam', 0.02), 'grad_clip_norm': 0.5, 'groups': [{'match': '*.bias', 'lr_scale': 2}]},
    'smoothing': {**SGD, 'loss': {'name': 'softmax_cross_entropy', 'label_smoothing': 0.1}},
    'weights': {**SGD, 'loss': {'name': 'softmax_cross_entropy', 'class_weights': [1, 2, 0.5, 1, 1, 3, 1, 0, 1, 1], 'label_smoothing': 0.2}},
    'ignore': {**SGD, 'loss': {'name': 'softmax_cross_entropy', 'ignore_index': 3}},
    'sum': {**optimizer('sgd', 0.01), 'loss': {'name': 'softmax_cross_entropy', 'reduction': 'sum', 'scale': 0.5}},
    'nll': {**optimizer('sgd', 0.001), 'loss': {'name': 'nll', 'class_weights': [1, 2, 0.5, 1, 1, 3, 1, 1, 1, 1], 'ignore_index': 2}},
    'mse': {**SGD, 'loss': 'mse'}, 'l1': {**SGD, 'loss': 'l1'}, 'huber': {**SGD, 'loss': {'name': 'huber', 'delta': 0.1}},
    'mse-sum': {**optimizer('sgd', 0.001), 'loss': {'name': 'mse', 'reduction': 'sum'}},
    'bce': {**SGD, 'loss': {'name': 'bce_with_logits', 'positive_weight': 3}}, 'bce-sum': {**optimizer('sgd', 0.001), 'loss': {'name': 'bce_with_logits', 'reduction': 'sum'}},
    'kl': {**optimizer('sgd', 0.01), 'loss': {'name': 'kl', 'reduction': 'batch_mean'}},
    'clip-norm': {**SGD, 'grad_clip_norm': 0.5}, 'clip-value': {**SGD, 'grad_clip_value': 0.01},
    'clip-both': {**optimizer('adam', 0.01), 'grad_clip_norm': 0.5, 'grad_clip_value': 0.01},
    'accumulate': {**optimizer('adam', 0.01), 'accumulate': 3}, 'accumulate-clip': {**SGD, 'accumulate': 2, 'grad_clip_norm': 0.1},
    'ema': {**optimizer('adam', 0.01), 'ema': 0.9},
    'groups': {**optimizer('sgd', 0.1, weight_decay=0.1, momentum=0.9), 'groups': [{'match': '*.bias', 'weight_decay': 0}, {'match': 'out.*', 'lr_scale': 0.1}]},
    'trainable': {**SGD, 'trainable': ['out.weight', 'out.bias']},
    'step': schedule('step', step_size=4, gamma=0.5), 'multi_step': schedule('multi_step', milestones=[3, 3, 8], gamma=0.5),
    'exponential': schedule('exponential', gamma=0.8), 'linear': schedule('linear', start_factor=0.25, total_steps=8),
    'warm_restarts': schedule('warm_restarts', period=5, min_lr=0.01), 'warm_restarts-growing': schedule('warm_restarts', period=2, period_factor=2, min_lr=0),
    'warmup': schedule('warmup', warmup_steps=5), 'cosine': schedule('cosine', min_lr=0.01), 'one_cycle': schedule('one_cycle', max_lr=0.2),
    'list': {**SGD, 'lr_schedule': [0.1, 0.05, 0.2]},
}


def run(name, config):
    place = folder / name
    place.mkdir(parents=True)
    config = {'loss': 'softmax_cross_entropy', **config, 'batch': BATCH, 'steps': STEPS}
    (place / 'config.json').write_text(json.dumps(config))
    loss = config['loss'] if isinstance(config['loss'], str) else config['loss']['name']
    targets = example / 'data' / 'train-labels-idx1-ubyte' if loss in ('softmax_cross_entropy', 'nll') else folder / 'soft.npy'
    done = subprocess.run([sprig, 'train', example / 'model.onnx', '--config', place / 'config.json',
                           '--x', example / 'data' / 'train-images-idx3-ubyte', '--y', targets, '-q',
                           '--metrics', place / 'm.jsonl', '-o', place / 'end'], capture_output=True, text=True)
    if done.returncode:
        return f'exit code {done.returncode}: {done.stderr[:200].strip()}'
    rows = [json.loads(line) for line in (place / 'm.jsonl').read_text().splitlines()]
    losses, norms, weights, averages = reference(config, initial)
    for t, row in enumerate(rows):
        for what, got, want in (('loss', row['loss'], losses[t]), ('grad_norm', row['grad_norm'], norms[t]), ('lr', row['lr'], rate(config, t))):
            if not abs(got - want) <= 2e-5 * max(abs(want), 1e-3):
                return f'step {t}: {what} {got}, expected {want:.8g}'
    state = tensors(next((place / 'end').glob('step-*')) / 'arrays.safetensors')
    if state['optimizer/step'] != STEPS:
        return f"{state['optimizer/step']} steps counted"
    # A sign turns where an average is as good as zero: of Lion only the losses are compared.
    if config['optimizer']['name'] != 'lion':
        for wanted, prefix in ((weights, ''), (averages, 'average/')):
            if prefix and 'ema' not in config:
                continue
            for parameter, want in wanted.items():
                error = abs(state[prefix + parameter] - want).max()
                if not error <= 1e-4:
                    return f"'{prefix}{parameter}' differs by {error:.2g}"
    return None


shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
np.save(folder / 'soft.npy', soft)
(folder / 'zero.json').write_text(json.dumps({'loss': 'mse', 'batch': 16, 'steps': 1, **optimizer('sgd', 0)}))
subprocess.run([sprig, 'train', example / 'model.onnx', '--config', folder / 'zero.json', '--x',
                example / 'data' / 'train-images-idx3-ubyte', '--y', folder / 'soft.npy', '-q', '-o', folder / 'start.safetensors'],
               check=True, stdout=subprocess.DEVNULL)
initial = tensors(folder / 'start.safetensors')
passed = failed = 0
for name, config in CASES.items():
    if sys.argv[4:] and name not in sys.argv[4:]:
        continue
    wrong = run(name, config)
    passed, failed = passed + (wrong is None), failed + (wrong is not None)
    if wrong:
        print(f'FAIL {name}: {wrong}')
print(f'{passed} passed, {failed} failed')
sys.exit(1 if failed else 0)
