"""What the peers of gpu.py read: networks of one batch each (ONNX), inputs, reference outputs, parameters, training tasks."""
import numpy as np
import torch

import models
import nets
import tasks


def net(name, batches):
    module, shapes = models.build(name)
    module.eval()
    folder = nets.DATA / name
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / 'parameters.npz', **{f'p{i}': p.detach().numpy() for i, p in enumerate(module.parameters())})
    for batch in batches:
        x = models.inputs(shapes, batch)
        # In f64, so that the reference has no rounding of its own.
        with torch.no_grad():
            y = module.double()(*[t.double() if t.is_floating_point() else t for t in x])
        module.float()
        y = y if isinstance(y, tuple) else (y,)
        nets.write_case(folder, batch, x, [t.float() for t in y])
        nets.write_model(module, x, len(y), folder / f'model_{batch}.onnx')


def task(slug):
    name = tasks.task_of(slug)
    tasks.write(name)
    module, x, y, f, kind = tasks.setup(name)
    optimizer = {'sgd': torch.optim.SGD, 'momentum': torch.optim.SGD, 'adam': torch.optim.Adam, 'adamw': torch.optim.AdamW}[kind](
        module.parameters(), **tasks.OPTIMIZERS[kind])
    for _ in range(tasks.CHECK_STEPS):
        optimizer.zero_grad()
        loss = f(module(x), y)
        loss.backward()
        optimizer.step()
    (nets.DATA / 'train' / slug / 'loss.txt').write_text(f'{loss.item()}\n')
