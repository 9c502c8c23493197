"""Prints the tables of results/ as Markdown: report.py [infer|kinds|startup]."""
import json
import sys

import harness
import nets

ORDER = ['sprig', 'ort', 'openvino', 'executorch', 'mnn', 'ncnn', 'torchscript', 'aoti', 'eager', 'compile', 'iree']


def load(name):
    return json.loads((harness.RESULTS / f'{name}.json').read_text())['cells']


def time_of(ns):
    return f'{ns / 1e3:.3g} us' if ns < 1e6 else f'{ns / 1e6:.3g} ms'


def floor_ns(flop, weights, io, threads, roof):
    """The machine's lower bound of one call: arithmetic, or moving weights and activations' ends once from where they fit."""
    r = roof[f'threads_{threads}']
    moved = weights + io
    level = 'l1_16K' if moved < 28e3 * threads else 'l2_512K' if moved < 1e6 * threads else 'l3_8M' if moved < 30e6 else 'dram_512M'
    compute, memory = flop / r['fma_avx512_gflops'], moved / r[f'{level}_read_gbs']
    return (compute, 'FMA') if compute > memory else (memory, level.split('_')[0].upper())


def cell(v, best):
    if 'failed' in v:
        return 'fail'
    return f"{v['median_ns'] / best:.2f}" + harness.spread(v, best) + ('!' if v.get('check', 0) > 1e-3 else '')


def infer():
    cells, roof = load('infer'), load('roofline')['roofline']
    works = load('work')
    for threads in 1, 2:
        peers = [p for p in ORDER if any(p in c for k, c in cells.items() if k.endswith(f't{threads}'))]
        print(f'\n### Inference, {threads} thread{"s" * (threads > 1)} (ratio to the best peer; 1.00 is the best)\n')
        print('| net, batch | MFLOP | weights KB | best time | peer | % of limit (bound by) | ' + ' | '.join(peers) + ' |')
        print('|---' * (6 + len(peers)) + '|')
        for net, batch in nets.cells():
            c = cells.get(f'{net} b{batch} t{threads}')
            if not c:
                continue
            ok = {p: v for p, v in c.items() if 'median_ns' in v and v['check'] < 1e-3 and p in peers}
            best = min(ok, key=lambda p: ok[p]['median_ns'])
            ns = ok[best]['median_ns']
            flop, weights, io = works[f'{net} b{batch}'].values()
            floor, bound = floor_ns(flop, weights, io, threads, roof)
            print(f'| {net} b{batch} | {flop / 1e6:.3g} | {weights / 1e3:.0f} | {time_of(ns)} | {best} | '
                  f"{100 * floor / ok[best]['min_ns']:.0f} ({bound}) | " + ' | '.join(cell(c[p], ns) if p in c else '' for p in peers) + ' |')


def kinds():
    """Sprig beside the others by least times, one thread."""
    cells, roof, works = load('kinds'), load('roofline')['roofline'], load('work')
    peers = [p for p in ORDER if p != 'sprig' and any(p in c for c in cells.values())]
    print('| network | batch | ' + ' | '.join(peers) + ' | best of them | Sprig | share of the limit |')
    print('|---' * (len(peers) + 5) + '|')
    least, product = lambda v: v['min_ns'], 1
    for net, batch in nets.cells(['kinds']):
        c = cells[f'{net} b{batch} t1']
        own = least(c['sprig'])
        ratios = {p: least(c[p]) / own for p in peers if 'min_ns' in c.get(p, {}) and c[p]['check'] < 1e-3}
        floor, bound = floor_ns(*works[f'{net} b{batch}'].values(), 1, roof)
        product *= min(ratios.values())
        print(f'| {net} | {batch} | ' + ' | '.join(f'{ratios[p]:.2f}' if p in ratios else '' for p in peers) +
              f' | {min(ratios.values()):.2f} | {time_of(own)} | {100 * floor / own:.0f}% ({bound}) |')
    count = len(nets.cells(['kinds']))
    print(f'\nGeometric mean over the best in each of the {count} cells: {product ** (1 / count):.2f}')


def startup():
    cells = load('startup')
    print('\n### Cold start of a process, load inside it, peak memory\n')
    print('| net | peer | process, exec to end ms | load+compile+first run ms | peak RSS MB |\n|---|---|---|---|---|')
    for net in 'mlp_784_256_128_10', 'resnet18':
        for p, v in sorted(cells[net].items(), key=lambda i: i[1].get('wall_ms_median', 1e9)):
            if 'failed' in v:
                continue   # not written for this net
            else:
                load_ms = f"{v['load_ms_median']:.3g}" if 'load_ms_median' in v else ''
                print(f"| {net} | {p} | {v['wall_ms_median']:.0f} | {load_ms} | {v['peak_rss_mb']:.0f} |")
    print('\nMB that must be shipped (libraries): ' + '; '.join(f'{k} {v:.3g}' for k, v in cells['shipped_mb'].items()))
    print('\nMB of the model file: ' + '; '.join(f'{k} {v:.3g}' for k, v in cells['model_mb'].items()))


for name in sys.argv[1:] or ('infer', 'startup'):
    globals()[name]()
