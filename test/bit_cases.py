"""The cases of scripts/compare-bits: what one build makes, which must have the bits of what another build makes."""
import json
import math
import os
import pathlib
import random
import struct
from typing import Callable, NamedTuple

import bits

SHARED = pathlib.Path(os.environ.get('SPRIG_SHARED_DIR', pathlib.Path(__file__).resolve().parents[2] / 'shared')).resolve()
STEPS = 10             # of a training run
SHARES = [3, 1, 2, 1]  # weights of the first ranks, as in test/E2E/TrainerSteps.cpp


class Case(NamedTuple):
    """What one build makes in a folder. The configuration, where there is one, is config.json beside the folder."""
    name: str
    command: Callable
    config: dict | None = None


def on_ranks(build, ranks, processes, *command):
    return [build.sprig, 'launch', '-n', str(ranks), '--', *command] if processes else list(command)


def models():
    return sorted(path.parent for path in (SHARED / 'models').glob('*/model.onnx'))


def references():
    return sorted(path.parent for path in (SHARED / 'training').glob('*/config.json'))


def samples_of(folder):
    return bits.npy((folder / 'x.npy').read_bytes())['array'].shape[0]


def packages():
    def package(model, *flags):
        return lambda build, out: [build.sprig, 'compile', model, *flags, '-q', '-o', out / 'model.sprig']
    for folder in models():
        for batch in (1, 8):
            yield Case(f'package/{folder.name}/batch-{batch}', package(folder / 'model.onnx', '--dim', f'batch={batch}'))
    for folder in references():
        yield Case(f'package/{folder.name}/train', package(folder / 'model.onnx', '--train', folder / 'config.json', '--samples',
                                                           str(samples_of(folder))))


def splits():
    """Inference on ranks that divide the samples, or the samples and the last dimension of the input."""
    def split(folder, mesh, processes):
        data = folder / 'data_b8/input_0.npy'
        axes = ['data', *['-'] * (len(bits.npy(data.read_bytes())['array'].shape) - 1)]
        if 'model' in mesh:
            axes[-1] = 'model'
        flags = [folder / 'model.onnx', '--dim', 'batch=8', '--input', data, '-q', '--mesh',
                 ','.join(f'{axis}={size}' for axis, size in mesh.items()), '--shard', f'x={",".join(axes)}']
        return lambda build, out: on_ranks(build, math.prod(mesh.values()), processes, build.sprig, 'run', *flags, '--output-dir', out)
    for folder in models():
        for way, mesh in {'samples': {'data': 3}, 'samples-and-values': {'data': 2, 'model': 2}}.items():
            for of in ('threads', 'processes'):
                yield Case(f'split/{folder.name}/{math.prod(mesh.values())}-{of}/{way}', split(folder, mesh, of == 'processes'))


def training(model, data, ranks, processes, *flags, config=None):
    """A run of `sprig train`."""
    def command(build, out):
        run = [build.sprig, 'train', model, '--config', config or out.parent / 'config.json',
               '--x', data / 'x.npy', '--y', data / 'y.npy',
               '--checkpoint', out / 'checkpoint', '--metrics', out / 'metrics.jsonl', '--threads', str(ranks), '-q', *flags]
        if ranks > 1:
            run += ['--strategy', 'data'] if processes else ['--mesh', f'data={ranks}']
        return on_ranks(build, ranks, processes, *run)
    return command


def shares(ranks):
    return ','.join(map(str, SHARES[:ranks]))


def runs():
    for folder in references():
        for ranks in (1, 2, 3, 4):
            ways = {'plain': [], 'calls': ['--steps-per-call', '3']}
            if ranks > 1:
                ways |= {'zero': ['--zero', '1'], 'shares': ['--shares', shares(ranks)],
                         'factors': ['--factors', 'always'], 'replica': ['--batch-norm', 'replica']}
            for way, flags in ways.items():
                for of in ('threads', 'processes')[:ranks]:
                    run = training(folder / 'model.onnx', folder, ranks, of == 'processes', '--steps', str(STEPS), *flags,
                                   config=folder / 'config.json')
                    yield Case(f'train/{folder.name}/{ranks}-{of}/{way}', run)


def trainers():
    def trainer(folder, ranks, processes, words):
        return lambda build, out: on_ranks(build, ranks, processes, build.trainer, folder, out, str(ranks), *words)
    for folder in references():
        for ranks in (1, 2, 3, 4):
            ways = [['plain'], ['calls'], ['imperative']]
            if ranks > 1:
                ways += [['zero'], ['shares'], ['factors'], ['replica']]
                ways += [['imperative', 'zero'], ['imperative', 'shares'], ['imperative', 'replica']]
            for way in ways:
                for of in ('threads', 'processes')[:ranks]:
                    words = [word for word in way if word != 'plain']
                    yield Case(f'trainer/{folder.name}/{ranks}-{of}/{"-".join(way)}', trainer(folder, ranks, of == 'processes', words))


class Draw(random.Random):
    def sometimes(self, chance, value):
        """What `value` draws, or no field."""
        return value() if self.random() < chance else {}

    def optimizer(self):
        rates = {'sgd': 0.05, 'adam': 1e-3, 'adamw': 1e-3, 'nadam': 1e-3, 'radam': 1e-3, 'rmsprop': 3e-4, 'adagrad': 0.01,
                 'adadelta': 0.5, 'lion': 1e-4}
        name = self.choice(list(rates))
        result = {'name': name, 'lr': rates[name] * self.choice([0.5, 1, 2])}
        result |= self.sometimes(0.5, lambda: {'weight_decay': self.choice([1e-4, 0.01])})
        if name in ('sgd', 'rmsprop'):
            result |= self.sometimes(0.6, lambda: {'momentum': self.choice([0.5, 0.9])})
        if 'momentum' in result and name == 'sgd':
            result |= self.sometimes(0.5, lambda: self.choice([{'nesterov': True}, {'dampening': 0.1}]))
        if name in ('nadam', 'radam'):
            result |= self.sometimes(0.3, lambda: {'decoupled_weight_decay': True})
        return result

    def schedule(self):
        return self.choice([
            {'name': 'step', 'step_size': 3, 'gamma': 0.5}, {'name': 'multi_step', 'milestones': [2, 5]},
            {'name': 'exponential', 'gamma': 0.9}, {'name': 'linear'}, {'name': 'warmup', 'warmup_steps': 4}, {'name': 'cosine'},
            {'name': 'warm_restarts', 'period': 4},
            {'name': 'warmup_cosine', 'warmup_steps': 3}, {'name': 'one_cycle'}, [0.01, 0.02, 0.005]])

    def loss(self, classes):
        """Of logits and targets of so many classes, or of numbers where there are none."""
        if not classes:
            result = {'name': self.choice(['mse', 'l1', 'huber'])}
        else:
            result = {'name': 'softmax_cross_entropy'}
            result |= self.sometimes(0.3, lambda: {'class_weights': [self.choice([0.25, 0.5, 1, 2]) for _ in range(classes)]})
            result |= self.sometimes(0.3, lambda: {'ignore_index': self.randrange(classes)})
            result |= self.sometimes(0.2, lambda: {'label_smoothing': 0.1})
        result |= self.sometimes(0.15, lambda: {'reduction': 'sum'})
        return result | self.sometimes(0.1, lambda: {'scale': 0.5})


def random_run(seed, number):
    """A configuration that depends on seed and number alone."""
    draw = Draw(f'{seed}/{number}')
    data = draw.choice(references())
    model, config = data / 'model.onnx', {}
    if draw.random() < 0.2:  # the network with dropouts, which takes the data of this reference
        model, data = SHARED / 'models/mlp_dropout_784_512_256_10/model.onnx', SHARED / 'training/mlp_sgd'
        config |= draw.sometimes(0.1, lambda: {'dropout': False})
    else:
        config['trainable'] = json.loads((data / 'config.json').read_text())['trainable']
    has_norms = b'running_mean' in (data / 'init.safetensors').read_bytes()
    targets = bits.npy((data / 'y.npy').read_bytes())['array']
    classes = 1 + max(struct.unpack(f'<{len(targets.data) // 8}q', targets.data)) if targets.type == 'I64' else 0
    ranks, samples = draw.choice([1, 2, 2, 3, 3, 4]), samples_of(data)
    passes = draw.choice([1, 1, 1, 2, 3])
    # Batch norms need samples on each rank; other networks have ranks without any in small batches.
    least = 2 * ranks if has_norms else 1
    if draw.random() < 0.7:
        config |= {'steps': STEPS, 'batch': draw.randint(least, max(least, min(20, samples // (STEPS * passes))))}
    else:
        config |= {'epochs': 1, 'batch': max(least, samples // (passes * draw.randint(6, 12)))}
        config |= {'drop_last': has_norms or draw.random() < 0.3}
    config |= {'accumulate': passes, 'seed': draw.randrange(100), 'shuffle': draw.random() < 0.5, 'loss': draw.loss(classes),
               'optimizer': draw.optimizer()}
    config |= draw.sometimes(0.6, lambda: {'lr_schedule': draw.schedule()})
    config |= draw.sometimes(0.3, lambda: {'grad_clip_norm': draw.choice([0.1, 1.0])})
    config |= draw.sometimes(0.2, lambda: {'grad_clip_value': 0.01})
    config |= draw.sometimes(0.25, lambda: {'ema': draw.choice([0.9, 0.99])})
    config |= draw.sometimes(0.2, lambda: {'groups': [{'match': '*bias', 'lr_scale': 0.5, 'weight_decay': 0}]})
    config |= draw.sometimes(0.15, lambda: {'remat': 0})
    flags = []
    if draw.random() < 0.25:
        flags += ['--eval-x', data / 'x.npy', '--eval-y', data / 'y.npy']
    if draw.random() < 0.3:
        flags += ['--steps-per-call', str(draw.choice([2, 3, 4]))]
    processes = ranks > 1 and draw.random() < 0.3
    if ranks > 1:
        flags += ['--bucket', draw.choice(['auto', 'none', 'unlimited', '1'])]
        flags += ['--factors', draw.choice(['auto', 'never', 'always'])]
        if draw.random() < 0.35:
            flags += ['--zero', '1']
        if draw.random() < 0.35:
            flags += ['--shares', ','.join(str(draw.randint(1, 3)) for _ in range(ranks))]
        if has_norms and draw.random() < 0.5:
            flags += ['--batch-norm', 'replica']
    return Case(f'random/{seed}-{number}-{model.parent.name}-{ranks}', training(model, data, ranks, processes, *flags), config)


def every(random_runs, seed):
    """All cases, with so many random ones."""
    yield from packages()
    yield from splits()
    yield from runs()
    yield from trainers()
    for number in range(random_runs):
        yield random_run(seed, number)
