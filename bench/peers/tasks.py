"""The training tasks: network, batch, loss, optimizer and data, the same for every peer.

A task's folder DATA/train/TASK holds x.bin, y.bin and p0.bin, p1.bin ... (initial parameters in PyTorch's order), with
shapes in shapes.txt (one "FILE TYPE DIM..." a line), for the peers that are not PyTorch; model.onnx (with the same parameters) and
config.json are the task for Sprig.
"""
import json
import sys

import nets

OPTIMIZERS = {
    'sgd': dict(lr=.05), 'momentum': dict(lr=.05, momentum=.9), 'adam': dict(lr=1e-3),
    'adamw': dict(lr=1e-3, weight_decay=1e-2),
}
TASKS = {  # name: net, batch, optimizer, loss
    'mlp_784_256_128_10 sgd b64': ('mlp_784_256_128_10', 64, 'sgd', 'xent'),
    'mlp_784_256_128_10 adam b64': ('mlp_784_256_128_10', 64, 'adam', 'xent'),
    'tiny_16_64_64_4 adam b32': ('tiny_16_64_64_4', 32, 'adam', 'xent'),
    'lenet sgd b64': ('lenet', 64, 'sgd', 'xent'),
    'resnet8 momentum b16': ('resnet8', 16, 'momentum', 'xent'),
    'encoder_2x64 adamw b64': ('encoder_2x64', 64, 'adamw', 'xent'),
    'decoder_2x64 adamw b16': ('decoder_2x64', 16, 'adamw', 'xent'),
    'vit_2x64 adamw b64': ('vit_2x64', 64, 'adamw', 'xent'),
    'gru_32_64_50 adam b64': ('gru_32_64_50', 64, 'adam', 'xent'),
}
SLUG = {t: t.replace(' ', '_') for t in TASKS}
CHECK_STEPS = 10   # a peer reports the loss of this step, so that wrong gradients or updates show


def task_of(slug):
    return next(t for t, s in SLUG.items() if s == slug)


def setup(task):
    """(module in training mode, x, y, loss function, optimizer name)."""
    import models   # here: peers that are not PyTorch read the tables above
    import torch
    net, batch, optimizer, loss = TASKS[task]
    if net == 'tiny_16_64_64_4':
        torch.manual_seed(7)
        module, shapes = models.mlp(16, 64, 64, 4), [(16,)]
    else:
        module, shapes = models.build(net)
    x = models.inputs(shapes, batch, 1)[0]
    with torch.no_grad():
        out = module.eval()(x)
    g = torch.Generator().manual_seed(2)
    if loss == 'mse':
        y, f = torch.randn(out.shape, generator=g), torch.nn.functional.mse_loss
    else:
        y = torch.randint(0, out.shape[-1], out.shape[:-1], generator=g)
        f = lambda o, t: torch.nn.functional.cross_entropy(o.flatten(0, -2), t.flatten())
    return module.train(), x, y, f, optimizer


def write(task):
    import torch
    module, x, y, _, _ = setup(task)
    d = nets.DATA / 'train' / SLUG[task]
    d.mkdir(parents=True, exist_ok=True)
    lines = []
    for name, t in [('x', x), ('y', y)] + [(f'p{i}', p.detach()) for i, p in enumerate(module.parameters())]:
        t.contiguous().numpy().tofile(d / f'{name}.bin')
        lines.append(' '.join([f'{name}.bin', 'i64' if t.dtype == torch.int64 else 'f32', *map(str, t.shape)]))
    (d / 'shapes.txt').write_text('\n'.join(lines) + '\n')
    write_model(task, module, x, d)


def write_model(task, module, x, folder):
    """The network as for inference, nothing folded, and what to train it with."""
    import torch
    _, batch, optimizer, loss = TASKS[task]
    torch.onnx.export(module.eval(), (x,), folder / 'model.onnx', dynamo=True, external_data=False, optimize=False,
                      verbose=False, input_names=['x'], dynamic_shapes=({0: torch.export.Dim('batch')},))
    name = 'sgd' if optimizer == 'momentum' else optimizer
    config = {
        'loss': 'mse' if loss == 'mse' else 'softmax_cross_entropy', 'batch': batch, 'steps': 1,
        'optimizer': {'name': name, **OPTIMIZERS[optimizer],
                      **({'betas': [.9, .999], 'eps': 1e-8} if name.startswith('adam') else {})},
        'trainable': [n for n, _ in module.named_parameters()],
    }
    (folder / 'config.json').write_text(json.dumps(config, indent=1) + '\n')


if __name__ == '__main__':
    for t in sys.argv[1:] or TASKS:
        write(t)
