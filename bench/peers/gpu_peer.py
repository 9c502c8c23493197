"""Python peers on a GPU: gpu_peer.py torch|jax DEVICE, commands of gpu.py on stdin. One process keeps many of them under keys.

  prepare net NAME BATCHES, prepare task TASK_SLUG   ->  done NS     (torch: exports what the others read)
  load KEY KIND net|step NAME BATCH PRECISION        ->  ready LOAD_NS CHECK
  time KEY host|device MIN_MS                        ->  ns PER_CALL
"""
import logging
import os
import sys
import time
import warnings

FRAMEWORK, DEVICE = sys.argv[1:]
os.environ['XLA_PYTHON_CLIENT_PREALLOCATE'] = 'false'
os.environ['TORCHINDUCTOR_COMPILE_THREADS'] = '2'   # many such processes compile at once
if FRAMEWORK == 'jax' and DEVICE == 'cpu':
    os.environ['JAX_PLATFORMS'] = 'cpu'
warnings.filterwarnings('ignore')
logging.disable(logging.WARNING)
ANSWER = os.fdopen(os.dup(1), 'w')
os.dup2(2, 1)   # what the libraries print must not reach the protocol

import traceback

from harness import time_steps


class Torch:
    def __init__(self):
        import gpu_torch
        self.library, self.gpu = gpu_torch, gpu_torch.Gpu(DEVICE)

    def load(self, kind, what, name, batch):
        net, step = self.library.KINDS[kind]
        made = net if what == 'net' else step
        with made.guard(), self.gpu.here():
            return net(self.gpu, name, batch) if what == 'net' else step(self.gpu, name)

    def time(self, peer, mode, ms):
        with peer.guard(), self.gpu.here():
            if mode == 'device' and self.gpu.real:
                return self.gpu.ns(peer.device, ms)
            return time_steps(getattr(peer, mode), self.gpu.wait, ms)


class Jax:
    def __init__(self):
        import gpu_jax
        self.library = gpu_jax

    def load(self, kind, what, name, batch):
        return self.library.Net(name, batch) if what == 'net' else self.library.Step(name)

    def time(self, peer, mode, ms):
        return time_steps(getattr(peer, mode), peer.wait if mode == 'device' else lambda: None, ms)


def prepare(what, name, batches=''):
    import gpu_export
    if what == 'net':
        gpu_export.net(name, [int(b) for b in batches.split(',')])
    else:
        gpu_export.task(name)


def main():
    framework = {'torch': Torch, 'jax': Jax}[FRAMEWORK]()
    peers = {}
    for line in sys.stdin:
        command, *args = line.split()
        start = time.perf_counter_ns()
        try:
            if command == 'prepare':
                prepare(*args)
                answer = f'done {time.perf_counter_ns() - start}'
            elif command == 'load':
                import tasks
                key, kind, what, name, batch, precision = args
                framework.library.use(precision)
                peer = framework.load(kind, what, tasks.task_of(name) if what == 'step' else name, int(batch))
                peers[key] = peer, precision
                answer = f'ready {time.perf_counter_ns() - start} {peer.check}'
            else:
                key, mode, ms = args
                peer, precision = peers[key]
                framework.library.use(precision)
                answer = f'ns {framework.time(peer, mode, float(ms))}'
        except Exception as e:
            traceback.print_exc()
            answer = f'error {type(e).__name__}: {e}'.replace('\n', ' ')[:300]
        print(answer, file=ANSWER, flush=True)


main()
