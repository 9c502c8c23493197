#!/usr/bin/env python3
"""Writes references/NAME.json: small training runs in double precision that PyTorch's autograd computed.

    make-references.py [FOLDER]     (needs torch and numpy; run by hand when a case is added)

Each file holds a network in nn, its configuration, initial parameters and data as numbers that f32 holds exactly, and what
double precision makes of them: the loss of each step and the final parameters. Optimizers that PyTorch has are its own;
Lion is written here from its paper (arXiv:2302.06675), NAdam from PyTorch's documentation (before 2.0 its code differs), dropout's masks are Philox4x32-10 in numpy.
"""
import json
import math
import pathlib
import sys

import numpy
import torch
from torch.nn import functional as F

STEPS = 4
folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / 'references')
random = numpy.random.default_rng(11)


def exact(shape, scale=1.0, shift=0.0):
    """Sixteenths to 4096ths: few digits, exact in f32."""
    return numpy.round(random.standard_normal(shape) * scale * 256 + shift * 256) / 256


def philox(index, key, counter, stream):
    """Word index mod 4 of each block."""
    mask = numpy.uint64(0xFFFFFFFF)
    n = index.astype(numpy.uint64)
    c = [n >> numpy.uint64(2), numpy.full_like(n, stream), numpy.full_like(n, counter & 0xFFFFFFFF), numpy.full_like(n, counter >> 32)]
    k0, k1 = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        a, b = numpy.uint64(0xD2511F53) * c[0], numpy.uint64(0xCD9E8D57) * c[2]
        c = [(b >> numpy.uint64(32)) ^ c[1] ^ numpy.uint64(k0), b & mask, (a >> numpy.uint64(32)) ^ c[3] ^ numpy.uint64(k1), a & mask]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return numpy.choose((n & numpy.uint64(3)).astype(int), c)


def dropout(x, ratio, key, counter, stream):
    bits = philox(numpy.arange(x.numel()).reshape(tuple(x.shape)), key, counter, stream)
    return x * torch.tensor(bits >= round(ratio * 2**32)) / (1 - ratio)


class Lion(torch.optim.Optimizer):
    def __init__(self, parameters, lr, betas, weight_decay):
        super().__init__(parameters, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            b1, b2 = group['betas']
            for p in group['params']:
                m = self.state[p].setdefault('m', torch.zeros_like(p))
                p.mul_(1 - group['lr'] * group['weight_decay'])
                p.sub_(group['lr'] * torch.sign(b1 * m + (1 - b1) * p.grad))
                m.mul_(b2).add_(p.grad, alpha=1 - b2)


class NAdam(torch.optim.Optimizer):
    def __init__(self, parameters, lr, betas, eps, weight_decay, momentum_decay):
        super().__init__(parameters, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            b1, b2 = group['betas']
            for p in group['params']:
                state = self.state[p] or self.state[p].update(t=0, p=1.0, m=torch.zeros_like(p), v=torch.zeros_like(p)) or self.state[p]
                state['t'] += 1
                t, g, m, v = state['t'], p.grad + group['weight_decay'] * p, state['m'], state['v']
                mu, after = (b1 * (1 - 0.96 ** (at * group['momentum_decay']) / 2) for at in (t, t + 1))
                state['p'] *= mu
                m.mul_(b1).add_(g, alpha=1 - b1)
                v.mul_(b2).add_(g * g, alpha=1 - b2)
                moved = after * m / (1 - state['p'] * after) + (1 - mu) * g / (1 - state['p'])
                p.sub_(group['lr'] * moved / ((v / (1 - b2**t)).sqrt() + group['eps']))


def optimizer(config, parameters):
    o = {k: v for k, v in config.items() if k != 'name'}
    made = {'sgd': torch.optim.SGD, 'adam': torch.optim.Adam, 'adamw': torch.optim.AdamW, 'rmsprop': torch.optim.RMSprop,
            'nadam': NAdam, 'radam': torch.optim.RAdam, 'adagrad': torch.optim.Adagrad, 'adadelta': torch.optim.Adadelta, 'lion': Lion}[config['name']]
    return made(parameters, **o)


def case(name, text, parameters, x, y, config, forward, loss, statistics=()):
    """`forward` and `loss` take tensors; `parameters` in the order of the text. Accumulates as the configuration says."""
    tensors = {k: torch.tensor(v, dtype=torch.float64, requires_grad=k not in statistics) for k, v in parameters.items()}
    trained = [t for k, t in tensors.items() if k not in statistics]
    step_of = optimizer(config['optimizer'], trained)
    passes, batch = config.get('accumulate', 1), config['batch']
    real = lambda a: torch.tensor(a, dtype=torch.float64 if a.dtype.kind == 'f' else torch.int64)
    losses = []
    for step in range(config['steps']):
        step_of.zero_grad()
        total = 0.0
        for i in range(passes):
            part = slice(i * batch, (i + 1) * batch)
            value = loss(forward(tensors, real(x[part]), step * passes + i), real(y[part])) / passes
            value.backward()
            total += value.item()
        losses.append(total)
        step_of.step()
    flat = lambda a: numpy.asarray(a).reshape(-1).tolist()
    result = {'network': text, 'config': config, 'parameters': {k: flat(v) for k, v in parameters.items()}, 'x': flat(x),
              'y': flat(y), 'losses': losses, 'final': {k: flat(v.detach()) for k, v in tensors.items()}}
    folder.mkdir(exist_ok=True)
    (folder / f'{name}.json').write_text(json.dumps(result, separators=(',', ':')) + '\n')


def network(parameters, inputs, body, result):
    """A module with zeros for parameters, which the test fills in."""
    kind = lambda shape, element='f32': 'tensor<' + ''.join(f'{n}x' for n in shape) + element + '>'
    lines = [f'nn.param @{k} = dense<0.0> : {kind(v.shape)}' for k, v in parameters.items()]
    lines.append(f'func.func @net(%x: {inputs}) -> {result} {{')
    lines += [f'%{k} = nn.get_param @{k} : {kind(v.shape)}' for k, v in parameters.items()]
    return '\n'.join(lines) + '\n' + body.strip() + '\n}\n'


SGD = {'name': 'sgd', 'lr': 0.1}


def config(optimizer=SGD, loss='softmax_cross_entropy', batch=4, **more):
    return {'loss': loss, 'batch': batch, 'steps': STEPS, 'optimizer': optimizer, **more}


def mlp(name, config, loss=F.cross_entropy, drop=None, tail=None, y=None):
    batch = config['batch']
    p = {'w1': exact((7, 5), 0.5), 'b1': exact((7,), 0.2), 'w2': exact((3, 7), 0.5), 'b2': exact((3,), 0.2)}
    hidden = f'tensor<{batch}x7xf32>'
    middle = '%2 = nn.relu %1 : ' + hidden
    if drop:
        middle = f'''%k = nn.constant dense<0> : tensor<i64>
%t = nn.tanh %1 : {hidden}
%2 = nn.dropout %t, %k, %k {{ratio = {drop} : f64, stream = 5 : i64}} : {hidden}, tensor<i64>, tensor<i64>'''
    text = network(p, f'tensor<{batch}x5xf32>', f'''
%1 = nn.linear %x, %w1, %b1 : tensor<{batch}x5xf32>, tensor<7x5xf32>, tensor<7xf32>
{middle}
%3 = nn.linear %2, %w2, %b2 : {hidden}, tensor<3x7xf32>, tensor<3xf32>
{'%4 = nn.' + tail if tail else '%4 = nn.reshape %3'} : tensor<{batch}x3xf32>{'' if tail else f' to tensor<{batch}x3xf32>'}
return %4 : tensor<{batch}x3xf32>''', f'tensor<{batch}x3xf32>')
    samples = batch * config.get('accumulate', 1)
    x, y = exact((samples, 5)), random.integers(0, 3, samples) if y is None else y
    end = {None: lambda z: z, 'log_softmax %3 axis = 1': lambda z: F.log_softmax(z, 1), 'sigmoid %3': torch.sigmoid}[tail]

    def forward(t, x, counter):
        h = F.linear(x, t['w1'], t['b1'])
        h = dropout(torch.tanh(h), drop, config['seed'], counter, 5) if drop else F.relu(h)
        return end(F.linear(h, t['w2'], t['b2']))
    case(name, text, p, x, y, config, forward, loss)


mlp('sgd-nesterov', config({'name': 'sgd', 'lr': 0.1, 'momentum': 0.9, 'nesterov': True, 'weight_decay': 0.01}))
mlp('sgd-dampening', config({'name': 'sgd', 'lr': 0.1, 'momentum': 0.8, 'dampening': 0.3}))
mlp('adam', config({'name': 'adam', 'lr': 0.02, 'betas': [0.8, 0.95], 'eps': 1e-6, 'weight_decay': 0.02}))
mlp('adamw', config({'name': 'adamw', 'lr': 0.02, 'betas': [0.9, 0.98], 'eps': 1e-8, 'weight_decay': 0.1}))
mlp('rmsprop', config({'name': 'rmsprop', 'lr': 0.01, 'alpha': 0.9, 'eps': 1e-6, 'momentum': 0.5}))
mlp('adagrad', config({'name': 'adagrad', 'lr': 0.1, 'lr_decay': 0.2, 'eps': 1e-8}))
mlp('adadelta', config({'name': 'adadelta', 'lr': 1.0, 'rho': 0.9, 'eps': 1e-5}))
mlp('lion', config({'name': 'lion', 'lr': 0.01, 'betas': [0.9, 0.95], 'weight_decay': 0.1}))
mlp('dropout', config(seed=12345678901, accumulate=2), drop=0.4)
smooth = {'name': 'softmax_cross_entropy', 'label_smoothing': 0.1, 'class_weights': [1.0, 0.5, 2.0]}
mlp('label-smoothing', config(loss=smooth), lambda z, y: F.cross_entropy(
    z, y, weight=torch.tensor([1.0, 0.5, 2.0], dtype=torch.float64), label_smoothing=0.1))

weights = torch.tensor([1.0, 0.5, 2.0], dtype=torch.float64)
mlp('nll-ignore', config(loss={'name': 'nll', 'class_weights': [1.0, 0.5, 2.0], 'ignore_index': 1}, batch=6),
    lambda z, y: F.nll_loss(z, y, weights, ignore_index=1), tail='log_softmax %3 axis = 1', y=numpy.array([0, 1, 2, 2, 1, 0]))
mlp('ignore-index-sum', config(loss={'name': 'softmax_cross_entropy', 'ignore_index': -100, 'reduction': 'sum'}),
    lambda z, y: F.cross_entropy(z, y, reduction='sum'), y=numpy.array([0, -100, 2, -100]))
shares = numpy.array([[.5, .25, .25], [0, .75, .25], [1, 0, 0], [.125, .125, .75]])
mlp('bce', config(loss='binary_cross_entropy'), F.binary_cross_entropy, tail='sigmoid %3', y=shares)
mlp('bce-logits', config(loss={'name': 'bce_with_logits', 'positive_weight': 2.5}),
    lambda z, y: F.binary_cross_entropy_with_logits(z, y, pos_weight=torch.tensor(2.5, dtype=torch.float64)), y=shares)
mlp('kl', config(loss={'name': 'kl', 'reduction': 'batch_mean'}), lambda z, y: F.kl_div(z, y, reduction='batchmean'),
    tail='log_softmax %3 axis = 1', y=shares)


def batch_norm(name, accumulate):
    p = {'w': exact((3, 2, 3, 3), 0.3), 'scale': exact((3,), 0.3, 1), 'shift': exact((3,), 0.3),
         'mean': exact((3,), 0.3), 'variance': numpy.abs(exact((3,), 0.3, 1)), 'v': exact((2, 12), 0.4)}
    text = network(p, 'tensor<4x2x4x4xf32>', '''
%1 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<4x2x4x4xf32>, tensor<3x2x3x3xf32>
%2 = nn.batch_norm %1, %scale, %shift, %mean, %variance {epsilon = 1.0e-3 : f64} : tensor<4x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
%3 = nn.relu %2 : tensor<4x3x4x4xf32>
%4 = nn.pool max %3 {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<4x3x4x4xf32>
%5 = nn.reshape %4 : tensor<4x3x2x2xf32> to tensor<4x12xf32>
%6 = nn.linear %5, %v : tensor<4x12xf32>, tensor<2x12xf32>
return %6 : tensor<4x2xf32>''', 'tensor<4x2xf32>')

    def forward(t, x, counter):
        h = F.conv2d(x, t['w'], padding=1)
        h = F.batch_norm(h, t['mean'], t['variance'], t['scale'], t['shift'], training=True, momentum=0.2, eps=1e-3)
        return F.linear(F.max_pool2d(F.relu(h), 2).flatten(1), t['v'])
    case(name, text, p, exact((4 * accumulate, 2, 4, 4)), random.integers(0, 2, 4 * accumulate),
         config(accumulate=accumulate, batch_norm={'momentum': 0.8}), forward, F.cross_entropy, statistics=('mean', 'variance'))


batch_norm('batch-norm', 1)
batch_norm('batch-norm-accumulate', 2)


def recurrent(name, gates):
    H, I, T, B = 3, 2, 4, 3
    p = {'w': exact((gates * H, I), 0.5), 'r': exact((gates * H, H), 0.5), 'b': exact((2 * gates * H,), 0.2), 'v': exact((2, H), 0.7)}
    last = '%h1, %c1 = nn.lstm %s, %w, %r from %z, %z bias %b' if gates == 4 else '%h1 = nn.gru %s, %w, %r from %z bias %b'
    types = ['4x3x2xf32', f'{gates * H}x2xf32', f'{gates * H}x3xf32', '3x3xf32'] + ['3x3xf32'] * (gates == 4) + [f'{2 * gates * H}xf32']
    text = network(p, 'tensor<3x4x2xf32>', f'''
%z = nn.constant dense<0.0> : tensor<3x3xf32>
%s = nn.transpose %x [1, 0, 2] : tensor<3x4x2xf32>
%y, {last} : {', '.join(f'tensor<{t}>' for t in types)}
%o = nn.linear %h1, %v : tensor<3x3xf32>, tensor<2x3xf32>
return %o : tensor<3x2xf32>''', 'tensor<3x2xf32>')

    def forward(t, x, counter):
        h = c = torch.zeros(B, H, dtype=torch.float64)
        bw, br = t['b'].chunk(2)
        for step in range(T):
            a, u = F.linear(x[:, step], t['w'], bw), F.linear(h, t['r'], br)
            if gates == 4:
                i, o, f, n = (a + u).chunk(4, 1)
                c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(n)
                h = torch.sigmoid(o) * torch.tanh(c)
            else:
                (az, ar, an), (uz, ur, _) = a.chunk(3, 1), u.chunk(3, 1)
                z, r = torch.sigmoid(az + uz), torch.sigmoid(ar + ur)
                n = torch.tanh(an + F.linear(r * h, t['r'][2 * H:], br[2 * H:]))
                h = (1 - z) * n + z * h
        return F.linear(h, t['v'])
    case(name, text, p, exact((B, T, I)), exact((B, 2)), config(loss='mse', batch=3), forward, F.mse_loss)


recurrent('lstm', 4)
recurrent('gru', 3)

p = {'w': exact((2, 3, 3, 3), 0.4), 'b': exact((3, 1, 1), 0.2)}
text = network(p, 'tensor<2x2x3x3xf32>', '''
%1 = nn.conv_transpose %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, output_padding = array<i64: 1, 1>} : tensor<2x2x3x3xf32>, tensor<2x3x3x3xf32>
%2 = nn.add %1, %b : tensor<2x3x6x6xf32>, tensor<3x1x1xf32>
%3 = nn.tanh %2 : tensor<2x3x6x6xf32>
return %3 : tensor<2x3x6x6xf32>''', 'tensor<2x3x6x6xf32>')
case('conv-transpose', text, p, exact((2, 2, 3, 3)), exact((2, 3, 6, 6), 0.5), config(loss='huber', batch=2),
     lambda t, x, _: torch.tanh(F.conv_transpose2d(x, t['w'], stride=2, padding=1, output_padding=1) + t['b']), F.huber_loss)

p = {'table': exact((6, 4), 0.7), 'v': exact((3, 4), 0.7)}
text = network(p, 'tensor<3x5xi64>', '''
%1 = nn.gather %table, %x axis = 0 : tensor<6x4xf32>, tensor<3x5xi64>
%2 = nn.reduce_mean %1 axes = [1] : tensor<3x5x4xf32>
%3 = nn.gelu %2 : tensor<3x4xf32>
%4 = nn.linear %3, %v : tensor<3x4xf32>, tensor<3x4xf32>
return %4 : tensor<3x3xf32>''', 'tensor<3x3xf32>')
case('embedding', text, p, random.integers(0, 6, (3, 5)), random.integers(0, 3, 3), config(batch=3),
     lambda t, x, _: F.linear(F.gelu(F.embedding(x, t['table']).mean(1)), t['v']), F.cross_entropy)

p = {'w': exact((4, 2, 3), 0.5), 'scale': exact((4,), 0.3, 1), 'shift': exact((4,), 0.3), 'v': exact((2, 20), 0.4)}
text = network(p, 'tensor<3x2x5xf32>', '''
%1 = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 1, 1>} : tensor<3x2x5xf32>, tensor<4x2x3xf32>
%2 = nn.group_norm %1, %scale, %shift {groups = 2 : i64, epsilon = 1.0e-3 : f64} : tensor<3x4x5xf32>, tensor<4xf32>, tensor<4xf32>
%3 = nn.silu %2 : tensor<3x4x5xf32>
%4 = nn.reshape %3 : tensor<3x4x5xf32> to tensor<3x20xf32>
%5 = nn.linear %4, %v : tensor<3x20xf32>, tensor<2x20xf32>
return %5 : tensor<3x2xf32>''', 'tensor<3x2xf32>')
case('group-norm', text, p, exact((3, 2, 5)), exact((3, 2)), config(loss='l1', batch=3),
     lambda t, x, _: F.linear(F.silu(F.group_norm(F.conv1d(x, t['w'], padding=1), 2, t['scale'], t['shift'], 1e-3)).flatten(1), t['v']),
     F.l1_loss)

# The first rule of RAdam up to the seventh step, then the second.
mlp('nadam', config({'name': 'nadam', 'lr': 0.02, 'betas': [0.8, 0.95], 'eps': 1e-6, 'weight_decay': 0.02, 'momentum_decay': 0.5}))
mlp('radam', config({'name': 'radam', 'lr': 0.02, 'betas': [0.8, 0.9], 'eps': 1e-6, 'weight_decay': 0.02}, steps=10))


def frozen_norm(name, accumulate):
    """The first norm keeps its statistics, its scale and shift are trained; the second one moves them."""
    channel = lambda i: {f'scale{i}': exact((3,), 0.3, 1), f'shift{i}': exact((3,), 0.3), f'mean{i}': exact((3,), 0.3),
                         f'variance{i}': numpy.abs(exact((3,), 0.3, 1))}
    p = {'w1': exact((3, 2, 3), 0.4), **channel(1), 'w2': exact((3, 3, 3), 0.4), **channel(2), 'v': exact((2, 15), 0.4)}
    conv = '{strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 1, 1>}'
    norm = '{epsilon = 1.0e-3 : f64} : tensor<4x3x5xf32>' + ', tensor<3xf32>' * 4
    text = network(p, 'tensor<4x2x5xf32>', f'''
%1 = nn.conv %x, %w1 {conv} : tensor<4x2x5xf32>, tensor<3x2x3xf32>
%2 = nn.batch_norm %1, %scale1, %shift1, %mean1, %variance1 {norm}
%3 = nn.tanh %2 : tensor<4x3x5xf32>
%4 = nn.conv %3, %w2 {conv} : tensor<4x3x5xf32>, tensor<3x3x3xf32>
%5 = nn.batch_norm %4, %scale2, %shift2, %mean2, %variance2 {norm}
%6 = nn.tanh %5 : tensor<4x3x5xf32>
%7 = nn.reshape %6 : tensor<4x3x5xf32> to tensor<4x15xf32>
%8 = nn.linear %7, %v : tensor<4x15xf32>, tensor<2x15xf32>
return %8 : tensor<4x2xf32>''', 'tensor<4x2xf32>')

    def forward(t, x, counter):
        for i in (1, 2):
            x = F.conv1d(x, t[f'w{i}'], padding=1)
            x = torch.tanh(F.batch_norm(x, t[f'mean{i}'], t[f'variance{i}'], t[f'scale{i}'], t[f'shift{i}'],
                                        training=i == 2, momentum=0.2, eps=1e-3))
        return F.linear(x.flatten(1), t['v'])
    case(name, text, p, exact((4 * accumulate, 2, 5)), random.integers(0, 2, 4 * accumulate),
         config(accumulate=accumulate, batch_norm={'momentum': 0.8, 'frozen': ['scale1']}), forward, F.cross_entropy,
         statistics=[f'{kind}{i}' for kind in ('mean', 'variance') for i in (1, 2)])


frozen_norm('batch-norm-frozen', 1)
frozen_norm('batch-norm-frozen-accumulate', 2)
