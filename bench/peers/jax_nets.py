"""The tasks' networks as a JAX user would write them, and their data and parameters as NumPy arrays."""
import functools
import math

import numpy as np

import nets


def arrays(task):
    """x, y, [parameters] as numpy arrays."""
    import tasks
    d = nets.DATA / 'train' / tasks.SLUG[task]
    out = []
    for line in (d / 'shapes.txt').read_text().splitlines():
        file, dtype, *dims = line.split()
        out.append(np.fromfile(d / file, {'f32': np.float32, 'i64': np.int64}[dtype]).reshape([int(i) for i in dims]))
    return out[0], out[1], out[2:]


def training(task):
    """(step of (parameters, optimizer state, x, y), initial parameters, state, x, y); a step returns the two anew and the loss."""
    import jax
    import jax.numpy as jnp
    import optax
    import tasks
    net, _, optimizer, loss = tasks.TASKS[task]
    run = forward(net)
    x, y, params = arrays(task)
    if net == 'lenet':
        x = x.transpose(0, 2, 3, 1)
    o = tasks.OPTIMIZERS[optimizer]
    tx = {'sgd': lambda: optax.sgd(o['lr']), 'adam': lambda: optax.adam(o['lr']),
          'adamw': lambda: optax.adamw(o['lr'], weight_decay=o['weight_decay'])}[optimizer]()

    def loss_of(p, x, y):
        out = run(p, x)
        if loss == 'mse':
            return ((out - y) ** 2).mean()
        return optax.softmax_cross_entropy_with_integer_labels(out, y).mean()

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def step(p, state, x, y):
        value, g = jax.value_and_grad(loss_of)(p, x, y)
        updates, state = tx.update(g, state, p)
        return optax.apply_updates(p, updates), state, value

    p = layout(net, [jnp.array(a) for a in params])
    return step, p, tx.init(p), x, y


def layout(net, p):
    """Parameters in the layout a JAX user would choose: dense kernels [in, out], convolutions HWIO on NHWC data."""
    out = []
    for i, a in enumerate(p):
        if a.ndim == 2:
            a = a.T
            if net == 'lenet' and i == 4:   # the flattened features come in HWC order
                a = a.reshape(50, 4, 4, 128).transpose(1, 2, 0, 3).reshape(800, 128)
        elif a.ndim == 4:
            a = a.transpose(2, 3, 1, 0)
        out.append(a)
    return out


def forward(net):
    import jax
    import jax.numpy as jnp
    from jax import lax

    def mlp(p, x):
        for i in range(0, len(p), 2):
            x = x @ p[i] + p[i + 1]
            x = jax.nn.relu(x) if i + 2 < len(p) else x
        return x

    def pool(x):
        return lax.reduce_window(x, 0., lax.add, (1, 2, 2, 1), (1, 2, 2, 1), 'VALID') / 4

    def conv(x, w, b):
        return lax.conv_general_dilated(x, w, (1, 1), 'VALID', dimension_numbers=('NHWC', 'HWIO', 'NHWC')) + b

    def lenet(p, x):
        x = pool(jax.nn.relu(conv(x, p[0], p[1])))
        x = pool(jax.nn.relu(conv(x, p[2], p[3])))
        return mlp(p[4:], x.reshape(x.shape[0], -1))

    def norm(x, g, b):
        m = x.mean(-1, keepdims=True)
        return (x - m) * lax.rsqrt(((x - m) ** 2).mean(-1, keepdims=True) + 1e-5) * g + b

    def encoder(p, x, heads=4):
        b, t, d = x.shape
        for i in range(0, len(p) - 2, 12):
            g1, c1, g2, c2, wq, bq, wo, bo, w1, b1, w2, b2 = p[i:i + 12]
            q, k, v = [z.reshape(b, t, heads, d // heads).transpose(0, 2, 1, 3)
                       for z in jnp.split(norm(x, g1, c1) @ wq + bq, 3, -1)]
            s = jax.nn.softmax(q @ k.swapaxes(-1, -2) / math.sqrt(d // heads), -1)
            x = x + (s @ v).transpose(0, 2, 1, 3).reshape(b, t, d) @ wo + bo
            x = x + jax.nn.gelu(norm(x, g2, c2) @ w1 + b1, approximate=False) @ w2 + b2
        return x.mean(1) @ p[-2] + p[-1]

    if net.startswith(('mlp', 'tiny_')):
        return mlp
    written = {'lenet': lenet, 'encoder_2x64': encoder}
    if net not in written:
        raise NotImplementedError(f'{net} is not written for JAX')
    return written[net]
