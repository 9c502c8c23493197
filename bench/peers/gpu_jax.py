"""JAX's peers on a GPU (gpu_peer.py): jax.jit of the networks and tasks that jax_nets.py has. As gpu_torch.py has it, a peer has
`host()` and `device()`; its arrays are committed to the device, and parameters of training are donated."""
import contextlib

import jax
import jax.numpy as jnp
import numpy as np

import jax_nets
import nets
import tasks

WRITTEN = ('mlp_', 'tiny_relu', 'lenet', 'encoder_2x64')


def use(precision):
    jax.config.update('jax_default_matmul_precision', {'f32': 'highest', 'tf32': 'tensorfloat32'}[precision])


class Net:
    guard = staticmethod(contextlib.nullcontext)

    def __init__(self, name, batch):
        if not name.startswith(WRITTEN):
            raise NotImplementedError(f'{name} is not written for JAX')
        given = np.load(nets.DATA / name / 'parameters.npz')
        self.p = jax_nets.layout(name, [jnp.array(given[f'p{i}']) for i in range(len(given.files))])
        case = nets.read_case(name, batch)
        (x,) = [a for k, a in case if k == 'in']
        (want,) = [a for k, a in case if k == 'out']
        self.given = np.ascontiguousarray(x.transpose(0, 2, 3, 1)) if name == 'lenet' else x
        self.x = jax.device_put(self.given)
        self.f = jax.jit(jax_nets.forward(name))
        got = self.host()
        self.check = float(np.abs(got - want).max() / max(1, np.abs(want).max()))

    def device(self):
        self.y = self.f(self.p, self.x)

    def wait(self):
        self.y.block_until_ready()

    def host(self):
        return np.asarray(self.f(self.p, self.given))


class Step:
    guard = staticmethod(contextlib.nullcontext)

    def __init__(self, task):
        self.f, self.p, self.state, *self.given = jax_nets.training(task)
        self.given[1] = self.given[1].astype(np.int32)
        self.x, self.y = map(jax.device_put, self.given)
        for _ in range(tasks.CHECK_STEPS):
            self.check = self.host()

    def device(self):
        self.p, self.state, self.loss = self.f(self.p, self.state, self.x, self.y)

    def wait(self):
        self.loss.block_until_ready()
        self.p[0].block_until_ready()

    def host(self):
        self.p, self.state, self.loss = self.f(self.p, self.state, *self.given)
        return float(self.loss)
