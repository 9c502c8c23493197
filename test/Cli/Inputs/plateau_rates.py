"""plateau_rates.py METRICS METRIC [FIELD=VALUE...]: the rates of a run's lines are those that ReduceLROnPlateau gives.

METRIC: loss (the mean of an epoch's steps), eval_loss or eval_accuracy (at the ends of epochs). Fields: lr, epoch (its steps),
every (epochs between measurements), factor, patience, threshold, abs, cooldown, min_lr.
"""
import json
import sys

lines = [json.loads(line) for line in open(sys.argv[1])]
metric = sys.argv[2]
o = {'factor': 0.1, 'patience': 10, 'threshold': 1e-4, 'abs': 0, 'cooldown': 0, 'min_lr': 0, 'every': 1}
o.update((name, float(value)) for name, value in (field.split('=') for field in sys.argv[3:]))
rate, sign, falls = o['lr'], -1 if metric == 'eval_accuracy' else 1, 0
best, bad, cooldown = None, 0, 0
for i, line in enumerate(lines):
    assert line['step'] == i, f"line {i} is of step {line['step']}"
    assert abs(line['lr'] - rate) <= 1e-6 * rate, f"step {i}: the rate is {line['lr']}, expected {rate}"
    if (i + 1) % o['epoch'] or (i + 1) // o['epoch'] % o['every']:
        continue
    value = line[metric] if metric != 'loss' else sum(each['loss'] for each in lines[i + 1 - int(o['epoch']):i + 1]) / o['epoch']
    margin = o['threshold'] if o['abs'] else abs(best or 0) * o['threshold']
    if best is None or sign * value < sign * best - margin:
        best, bad = value, 0
    else:
        bad += 1
    if cooldown:
        cooldown, bad = cooldown - 1, 0
    if bad > o['patience']:
        lowered = max(rate * o['factor'], o['min_lr'])
        if rate - lowered > 1e-8:
            rate, falls = lowered, falls + 1
        cooldown, bad = o['cooldown'], 0
print(f'{len(lines)} steps, {falls} falls')
