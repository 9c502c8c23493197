"""PyTorch's peers on a GPU (gpu_peer.py): networks and training steps, eager and as CUDA graphs, of torch.compile, too.

A peer has `host()`, one call from arrays of the host to arrays of the host, waited for, and `device()`, one call on arrays that are
on the GPU, which may still be under way when it returns. On the processor, to try the programs, a graph is a plain call.
"""
import contextlib

import numpy as np
import torch

import models
import nets
import tasks


def use(precision):
    """f32: products and convolutions are not rounded; tf32: they may be."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == 'tf32'


class Gpu:
    """A device with a stream, in which everything is warmed up, captured and called."""
    def __init__(self, name):
        self.name = name
        self.real = name.startswith('cuda')
        if self.real:
            torch.backends.cudnn.benchmark = True
            self.stream = torch.cuda.Stream()

    def here(self):
        return torch.cuda.stream(self.stream) if self.real else contextlib.nullcontext()

    def wait(self):
        if self.real:
            self.stream.synchronize()

    def pinned(self, tensor):
        tensor = tensor.detach().cpu()
        return tensor.pin_memory() if self.real else tensor.clone()

    def warm(self, call, times=3):
        for _ in range(times):
            call()
        self.wait()

    def capture(self, call):
        """A function that does what call() enqueues, as one graph."""
        if not self.real:
            return call
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=self.stream):
            call()
        return graph.replay

    def ns(self, call, min_ms):
        """Of one call on the device, by events around calls back to back that take at least min_ms."""
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        calls = 1
        while True:
            begin.record(self.stream)
            for _ in range(calls):
                call()
            end.record(self.stream)
            end.synchronize()
            ms = begin.elapsed_time(end)
            if ms >= min_ms:
                return ms * 1e6 / calls
            calls = min(max(int(1.2 * calls * min_ms / max(ms, 1e-3)), calls + 1), calls * 16)


class Net:
    """Eager, as a program is first written: to the device, through the module, back."""
    guard = staticmethod(torch.inference_mode)

    def __init__(self, gpu, name, batch):
        self.gpu = gpu
        module, shapes = models.build(name)
        self.given = models.inputs(shapes, batch)
        self.module = self.prepare(module.eval().to(gpu.name))
        self.x = [t.to(gpu.name) for t in self.given]
        self.y = ()
        self.gpu.warm(self.device)
        self.ready()
        self.host()
        want = [a for k, a in nets.read_case(name, batch) if k == 'out']
        self.check = max(float(np.abs(g.reshape(w.shape) - w).max() / max(1, np.abs(w).max())) for g, w in zip(self.results(), want))

    def prepare(self, module):
        return module

    def ready(self):
        pass

    def run(self, x):
        y = self.module(*x)
        return y if isinstance(y, tuple) else (y,)

    def device(self):
        self.run(self.x)

    def host(self):
        self.y = [t.cpu() for t in self.run([t.to(self.gpu.name) for t in self.given])]

    def results(self):
        return [t.numpy() for t in self.y]


class GraphNet(Net):
    """A CUDA graph of the eager calls; of arrays of the host, with the copies between pinned memory and the device in it."""
    def ready(self):
        self.staged = [self.gpu.pinned(t) for t in self.given]
        self.back = [self.gpu.pinned(t) for t in self.run(self.x)]
        self.source = [t.numpy() for t in self.given]
        self.into = [t.numpy() for t in self.staged]
        self.got = [np.empty(t.shape, t.numpy().dtype) for t in self.back]
        self.out_of = [t.numpy() for t in self.back]
        self.device = self.gpu.capture(lambda: self.run(self.x))
        self.replay = self.gpu.capture(self.whole)

    def whole(self):
        for x, staged in zip(self.x, self.staged):
            x.copy_(staged, non_blocking=True)
        for back, y in zip(self.back, self.run(self.x)):
            back.copy_(y, non_blocking=True)

    def host(self):
        for to, source in zip(self.into, self.source):
            np.copyto(to, source)
        self.replay()
        self.gpu.wait()
        for to, source in zip(self.got, self.out_of):
            np.copyto(to, source)

    def results(self):
        return self.got


class CompiledNet(GraphNet):
    """torch.compile, weights frozen, in a CUDA graph."""
    options = {'freezing': True}

    def prepare(self, module):
        torch._dynamo.reset()
        return torch.compile(module, options=self.options, dynamic=False)


class TunedNet(CompiledNet):
    options = {'freezing': True, 'max_autotune': True}


class Step:
    """Eager with a fused optimizer; the loss is read each time."""
    guard = staticmethod(contextlib.nullcontext)
    captured = False

    def __init__(self, gpu, task):
        self.gpu = gpu
        module, x, y, loss, name = tasks.setup(task)
        self.module, self.loss_of = module.to(gpu.name), loss
        self.given = [gpu.pinned(x), gpu.pinned(y)]
        self.source, self.into = [x.numpy(), y.numpy()], [t.numpy() for t in self.given]
        self.x, self.y = x.to(gpu.name), y.to(gpu.name)
        kind = {'sgd': torch.optim.SGD, 'momentum': torch.optim.SGD, 'adam': torch.optim.Adam, 'adamw': torch.optim.AdamW}
        extra = {'capturable': True} if self.captured and gpu.real and name.startswith('adam') else {}
        self.optimizer = kind[name](self.module.parameters(), **tasks.OPTIMIZERS[name], fused=True, **extra)
        self.forward = self.prepare()
        start = {k: v.clone() for k, v in self.module.state_dict().items()}
        self.gpu.warm(self.step)
        self.loss = None
        self.ready()
        self.reset(start)
        for _ in range(tasks.CHECK_STEPS):
            value = self.host()
        self.check = value

    def prepare(self):
        return lambda: self.loss_of(self.module(self.x), self.y)

    def ready(self):
        self.device = self.step

    def reset(self, start):
        """As before the first step: what graphs have addresses of stays where it is."""
        with torch.no_grad():
            for k, v in self.module.state_dict().items():
                v.copy_(start[k])
            for state in self.optimizer.state.values():
                for v in state.values():
                    if isinstance(v, torch.Tensor):
                        v.zero_()
        self.gpu.wait()

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.loss = self.forward()
        self.loss.backward()
        self.optimizer.step()

    def upload(self):
        for to, source in zip((self.x, self.y), self.given):
            to.copy_(source, non_blocking=True)

    def host(self):
        for to, source in zip(self.into, self.source):
            np.copyto(to, source)
        self.upload()
        self.step()
        return self.loss.item()


class GraphStep(Step):
    """A CUDA graph of the whole step, upload of the batch and download of the loss among it where arrays are the host's."""
    captured = True

    def ready(self):
        self.back = self.gpu.pinned(torch.zeros(()))
        self.device = self.gpu.capture(self.step)
        self.loss = None
        self.replay = self.gpu.capture(self.whole)

    def whole(self):
        self.upload()
        self.step()
        self.back.copy_(self.loss.detach(), non_blocking=True)

    def host(self):
        for to, source in zip(self.into, self.source):
            np.copyto(to, source)
        self.replay()
        self.gpu.wait()
        return float(self.back)


class CompiledStep(GraphStep):
    """torch.compile of forward and loss (its backward is compiled with it) and the fused optimizer, in a CUDA graph."""
    def prepare(self):
        torch._dynamo.reset()
        module, loss = self.module, self.loss_of
        compiled = torch.compile(lambda x, y: loss(module(x), y), dynamic=False)
        return lambda: compiled(self.x, self.y)


KINDS = {'eager': (Net, Step), 'graph': (GraphNet, GraphStep), 'compile': (CompiledNet, CompiledStep), 'tuned': (TunedNet, CompiledStep)}
