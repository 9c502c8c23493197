"""Ten products of random matrices, asked for and waited for, beside NumPy and PyTorch: asynchrony.py SPRIG [--n 1000].

SPRIG is build/bin/sprig, whose `bench async` has the same experiment. Each engine is a process of its own with all threads, one
after the other. `asked for` is when the program has its hands free, `computed` when all results are there: where both are the
same, a call computes before it returns. The least of some rounds counts.
"""
import argparse
import json
import subprocess
import sys
import time

PRODUCTS, ROUNDS = 10, 6


def timed(issue, wait):
    """(ms until asked for, ms until computed)"""
    asked = computed = float('inf')
    for i in range(ROUNDS):
        start = time.perf_counter()
        kept = issue()
        free = time.perf_counter() - start
        wait(kept)
        whole = time.perf_counter() - start
        if i:   # the first one makes threads and buffers
            asked, computed = min(asked, free), min(computed, whole)
    return asked * 1e3, computed * 1e3


def peer(name, n):
    if name == 'numpy':
        import numpy as np
        random = np.random.default_rng(1)

        def issue():
            kept = []
            for _ in range(PRODUCTS):
                x = random.standard_normal((n, n), np.float32)
                kept.append(x @ x)
            return kept
        return timed(issue, lambda kept: [float(y[0, 0]) for y in kept])
    import torch
    torch.manual_seed(1)

    def issue():
        kept = []
        for _ in range(PRODUCTS):
            x = torch.randn(n, n)
            kept.append(x @ x)
        return kept
    # What waits for a processor in PyTorch: reading.
    return timed(issue, lambda kept: [y[0, 0].item() for y in kept])


def sprig(program, n):
    done = subprocess.run([program, 'bench', 'async', '--n', str(n), '--format', 'json', '-q'], capture_output=True, text=True)
    if done.returncode > 1:   # 1: another relation did not hold
        sys.exit(done.stderr)
    return [row['ms'] for row in json.loads(done.stdout)['tables']['issue']]


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('sprig')
    p.add_argument('--n', type=int, default=1000)
    p.add_argument('--peer', help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.peer:
        print(*peer(a.peer, a.n))
        return
    print(f'| {PRODUCTS} x (random {a.n} x {a.n}, product) | asked for, ms | computed, ms | asked / computed |\n|---|---|---|---|')
    shares = {}
    for name in ('numpy', 'torch', 'sprig'):
        if name == 'sprig':
            asked, computed = sprig(a.sprig, a.n)
        else:
            done = subprocess.run([sys.executable, __file__, a.sprig, '--n', str(a.n), '--peer', name], capture_output=True, text=True)
            if done.returncode:
                print(f'| {name} | failed: {done.stderr.strip().splitlines()[-1][:80]} | | |')
                continue
            asked, computed = map(float, done.stdout.split())
        shares[name] = asked / computed
        print(f'| {name} | {asked:.2f} | {computed:.2f} | {100 * shares[name]:.2f} % |', flush=True)
    holds = shares['sprig'] < 0.1
    print(('PASS' if holds else 'FAIL') + '  sprig: asking takes less than a tenth of computing')
    sys.exit(0 if holds else 1)


main()
