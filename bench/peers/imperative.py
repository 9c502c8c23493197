"""The imperative front-end beside PyTorch, timed in turn in one run: imperative.py PROGRAM [--threads 1,2] [--only PART].

PROGRAM is bench/sprig_imperative. Parts: record, stream, latency, steps, compiled, call, first, memory. Writes
results/imperative.json. A ratio is the peer's time over Sprig's: above 1, Sprig is faster. `imperative.py --peer NAME
THREADS` is PyTorch (eager, compile) in the protocol of cpp/serve.h.
"""
import argparse
import os
import statistics
import subprocess
import sys
import time

import harness

OPERATIONS = [('add', 10), ('add', 100), ('add', 1000), ('mul', 100), ('relu', 100), ('sum', 100), ('softmax', 100),
              ('matmul', 16)]
STEPS = ['mlp_784_256_128_10_adam_b64', 'tiny_16_64_64_4_adam_b32']
COMPILED = ['mlp_784_256_128_10_sgd_b64', 'mlp_784_256_128_10_adam_b64', 'lenet_sgd_b64', 'tiny_16_64_64_4_adam_b32']
CALLS = ['16_64_64_4']
STREAM = 1000


# ------------------------------------------------------------------------------------------------------ PyTorch

def operation(torch, name, size):
    """(first value, function of a value, whether results are chained)"""
    torch.manual_seed(1)
    if name == 'matmul':
        x, y = torch.randn(size, size), torch.randn(size, size) / size**.5
        return x, lambda v: torch.matmul(v, y), True
    x, y = torch.randn(size), torch.rand(size) * 1e-3 + (name == 'mul')
    return x, {'add': lambda v: v + y, 'mul': lambda v: v * y, 'relu': torch.relu, 'sum': lambda v: x.sum(),
               'softmax': lambda v: torch.softmax(v, -1)}[name], name != 'sum'


def case(torch, peer, text):
    """(one unit of work, units in it, check)"""
    import nets
    import tasks
    kind, *rest = text.split(':')
    if kind in ('stream', 'latency'):
        x, f, chains = operation(torch, rest[0], int(rest[1]))

        def stream():
            value, kept = x, []
            if chains:
                for _ in range(STREAM):
                    value = f(value)
            else:
                kept = [f(value) for _ in range(STREAM)]

        def latency():
            f(x).data_ptr()
        return (stream, STREAM, 0) if kind == 'stream' else (latency, 1, 0)
    if kind == 'eager':
        task = next(t for t, s in tasks.SLUG.items() if rest[0].endswith(s))
        module, x, y, f, optimizer = tasks.setup(task)
        kinds = {'sgd': torch.optim.SGD, 'adam': torch.optim.Adam}
        optimizer = kinds[optimizer](module.parameters(), **tasks.OPTIMIZERS[optimizer])

        def step():
            loss = f(module(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            return loss
        for _ in range(10):
            loss = step().item()
        return step, 1, loss
    if kind == 'call':
        import models
        import numpy as np
        module = models.mlp(*map(int, rest[0].split('_'))).eval()
        if peer == 'compile':
            module = torch.compile(module, dynamic=False)
        state = np.full((1, int(rest[0].split('_')[0])), .1, np.float32)

        @torch.inference_mode()
        def call():
            state[0, 0] = module(torch.from_numpy(state)).numpy()[0, 0] * .1
        for _ in range(10):
            call()
        return call, 1, 0
    raise ValueError('no case ' + text)


def serve(peer, threads):
    answer = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)
    import torch
    torch.set_num_threads(threads)
    for line in sys.stdin:
        command, what = line.split()[:2]
        try:
            if command == 'load':
                start = time.perf_counter_ns()
                call, units, check = case(torch, peer, what)
                call()
                print('ready', time.perf_counter_ns() - start, check, file=answer, flush=True)
            else:
                print('ns', harness.time_steps(call, lambda: None, float(what)) / units, file=answer, flush=True)
        except Exception as e:
            print('error', repr(e).replace('\n', ' ')[:300], file=answer, flush=True)


def first_of_torch(folder):
    """ms: import, model and data, then five iterations; of this process."""
    start = time.perf_counter()
    import torch
    imported = time.perf_counter()
    torch.set_num_threads(1)
    import tasks
    task = next(t for t, s in tasks.SLUG.items() if folder.endswith(s))
    module, x, y, f, _ = tasks.setup(task)
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-3)
    built = time.perf_counter()
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        loss = f(module(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        times.append((time.perf_counter() - begin) * 1e3)
    print('first', (imported - start) * 1e3, (built - imported) * 1e3, *times)


# ------------------------------------------------------------------------------------------------------ the run

def report(cells, title, r, unit=1e3, name='us'):
    cells[title] = r
    times = {n: v for n, v in r.items() if 'median_ns' in v}
    own = times.get('sprig')
    words = [f"{n} {v['min_ns'] / unit:.3f}/{v['median_ns'] / unit:.3f} {name}"
             + (f" ratio {v['min_ns'] / own['min_ns']:.2f}/{v['median_ns'] / own['median_ns']:.2f}"
                if own and n != 'sprig' else '')
             + (f" (loss {v['check']:.5f})" if v.get('check') else '') for n, v in times.items()]
    words += [f"{n} FAILED({v['failed'][:80]})" for n, v in r.items() if 'failed' in v]
    print(f'{title}: ' + '; '.join(words), flush=True)
    harness.save('imperative', {title: r})


def whole_processes(command, rounds, pin):
    """Words of the last line of each of several fresh processes."""
    rows = []
    for _ in range(rounds):
        done = subprocess.run((['taskset', '-c', str(os.cpu_count() - 1)] if pin else []) + command,
                              capture_output=True, text=True, check=True)
        rows.append([float(w) for w in done.stdout.splitlines()[-1].split()[1:]])
    return rows


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('program')
    p.add_argument('--train', help='bench/sprig_train, for part compiled')
    p.add_argument('--threads', default='1,2')
    p.add_argument('--only', default='record,stream,latency,steps,compiled,call,first,memory')
    p.add_argument('--rounds', type=int, default=9)
    p.add_argument('--ms', type=int, default=55)
    a = p.parse_args()
    import nets
    folder = lambda t: str(nets.DATA.resolve() / 'train' / t)
    parts, cells = a.only.split(','), {}
    for threads in map(int, a.threads.split(',')):
        torch_peer = lambda n: [sys.executable, str(harness.HERE / 'imperative.py'), '--peer', n, str(threads)]
        sprig = harness.Peer('sprig', [a.program, '--serve', str(threads)], threads)
        eager = harness.Peer('eager', torch_peer('eager'), threads)
        compiled = harness.Peer('compile', torch_peer('compile'), threads)
        trained = harness.Peer('sprig_train', [a.train, '--serve', str(threads)], threads) if a.train else None

        def run(title, asked, ms=a.ms):
            """asked: {peer: case}"""
            if not asked:
                return
            class Renamed:
                def __init__(self, peer, text):
                    self.name, self.peer, self.text, self.signal = peer.name, peer, text, peer.signal
                def ask(self, line):
                    return self.peer.ask(line.replace('CASE', self.text))
            report(cells, f'{title} t{threads}',
                   harness.measure([Renamed(q, text) for q, text in asked.items()], 'load CASE 0', a.rounds, ms))

        if 'record' in parts:
            for op in ('add', 'linear', 'slice'):
                run(f'record {op}', {sprig: f'record:{op}'})
        for kind in ('stream', 'latency'):
            if kind in parts:
                for op, size in OPERATIONS:
                    for tier in ('new', 'seen'):
                        run(f'{kind} {op} {size} {tier}', {sprig: f'{kind}:{op}:{size}:{tier}',
                                                           eager: f'{kind}:{op}:{size}:{tier}'})
        if 'steps' in parts:
            for task in STEPS:
                run(f'step {task}', {sprig: f'eager:{folder(task)}', eager: f'eager:{folder(task)}'}, 80)
        if 'compiled' in parts and trained:
            for task in COMPILED:
                run(f'compiled {task}', {sprig: f'compiled:{folder(task)}', trained: folder(task),
                                         eager: f'eager:{folder(task)}'}, 80)
        if 'call' in parts:
            for widths in CALLS:
                run(f'call {widths}', {q: f'call:{widths}' for q in (sprig, eager, compiled)})
        for q in (sprig, eager, compiled, trained):
            if q:
                q.stop()
        if 'first' in parts:
            for task in STEPS:
                ours, theirs = [], []
                for _ in range(a.rounds):   # in turn
                    ours += whole_processes([a.program, 'first', folder(task)], 1, threads == 1)
                    theirs += whole_processes([sys.executable, __file__, '--first', folder(task)], 1, threads == 1)
                cell = {'sprig': {'built_first_second_ms': [statistics.median(c) for c in zip(*ours)][:3],
                                  'least_first_ms': min(r[1] for r in ours)},
                        'eager': {'import_built_first_second_ms': [statistics.median(c) for c in zip(*theirs)][:4],
                                  'least_first_ms': min(r[2] for r in theirs)}}
                print(f'first {task} t{threads}:', cell, flush=True)
                harness.save('imperative', {f'first {task} t{threads}': cell})
        if 'memory' in parts:
            for task in STEPS[1:]:
                row = whole_processes([a.program, 'memory', folder(task)], 1, threads == 1)[0]
                cell = {'sprig': dict(zip(('rss_1000_mb', 'peak_1000_mb', 'rss_10000_mb', 'peak_10000_mb'), row))}
                print(f'memory {task} t{threads}:', cell, flush=True)
                harness.save('imperative', {f'memory {task} t{threads}': cell})


if sys.argv[1:2] == ['--peer']:
    serve(sys.argv[2], int(sys.argv[3]))
elif sys.argv[1:2] == ['--first']:
    first_of_torch(sys.argv[2])
else:
    main()
