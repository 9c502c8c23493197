"""One rank of a peer of distributed.py: distributed_peer.py KIND TASK_FOLDER STEPS CHECK. Environment as torchrun sets it.

Prints the seconds of each step, then the mean loss over the ranks at step CHECK."""
import os
import sys
import time
import warnings

KIND, FOLDER, STEPS, CHECK = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
RANK, RANKS = int(os.environ['RANK']), int(os.environ['WORLD_SIZE'])
ANSWER = os.fdopen(os.dup(1), 'w')
os.dup2(2, 1)
warnings.filterwarnings('ignore')


def share(batch):
    return batch[len(batch) * RANK // RANKS:len(batch) * (RANK + 1) // RANKS]


class Ddp:
    """PyTorch's DistributedDataParallel over Gloo, eager; gradients are views of buckets of 25 MB, its default size."""
    def __init__(self, task):
        import torch
        import tasks
        torch.set_num_threads(1)
        torch.distributed.init_process_group('gloo')
        module, x, y, self.f, name = tasks.setup(task)
        self.x, self.y = share(x), share(y)
        self.module = torch.nn.parallel.DistributedDataParallel(module, gradient_as_bucket_view=True)
        kind = torch.optim.SGD if name in ('sgd', 'momentum') else torch.optim.AdamW if name == 'adamw' else torch.optim.Adam
        self.optimizer = kind(self.module.parameters(), **tasks.OPTIMIZERS[name])
        self.forward = self.prepare()

    def prepare(self):
        return lambda: self.f(self.module(self.x), self.y)

    def step(self):
        loss = self.forward()
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.detach()

    def mean(self, loss):
        import torch
        torch.distributed.all_reduce(loss)
        return loss.item() / RANKS

    def finish(self):
        import torch
        torch.distributed.barrier()
        os._exit(0)   # tearing down is a race with the other rank's end


class DdpCompile(Ddp):
    """The same under torch.compile, which splits the graph at the buckets' ends."""
    def prepare(self):
        import torch
        compiled = torch.compile(self.module, dynamic=False)
        return lambda: self.f(compiled(self.x), self.y)


class Jax:
    """jax.jit over two processes, a device each, whose collectives go by Gloo; what has to be summed XLA finds."""
    def __init__(self, task):
        import functools
        import jax
        import jax_nets
        from jax.sharding import NamedSharding, PartitionSpec
        from jaxlib import _jax
        # jaxlib listens where the machine's name leads to, if not told the interface.
        _jax.make_gloo_tcp_collectives = functools.partial(_jax.make_gloo_tcp_collectives,
                                                           interface=os.environ['GLOO_SOCKET_IFNAME'])
        jax.config.update('jax_cpu_collectives_implementation', 'gloo')
        jax.distributed.initialize(f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}", RANKS, RANK)
        self.f, p, state, x, y = jax_nets.training(task)
        mesh = jax.make_mesh((RANKS,), ('data',))
        whole, rows = NamedSharding(mesh, PartitionSpec()), NamedSharding(mesh, PartitionSpec('data'))
        self.p, self.state = jax.tree.map(lambda a: jax.make_array_from_process_local_data(whole, jax.device_get(a)), (p, state))
        self.x, self.y = (jax.make_array_from_process_local_data(rows, share(a)) for a in (x, y))

    def step(self):
        self.p, self.state, loss = self.f(self.p, self.state, self.x, self.y)
        loss.block_until_ready()
        self.p[0].block_until_ready()
        return loss

    def mean(self, loss):
        return float(loss)

    def finish(self):
        os._exit(0)


def main():
    import tasks
    task = next(name for name, slug in tasks.SLUG.items() if slug == FOLDER)
    rank = {'ddp': Ddp, 'ddp-compile': DdpCompile, 'jax': Jax}[KIND](task)
    seconds = []
    for i in range(STEPS):
        start = time.perf_counter()
        loss = rank.step()
        seconds.append(time.perf_counter() - start)
        if i == CHECK:
            check = rank.mean(loss)
    ANSWER.write(' '.join(f'{s:.9f}' for s in seconds) + f' {check}\n')
    ANSWER.flush()
    rank.finish()


main()
