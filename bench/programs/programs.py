"""The programs of this folder in PyTorch: programs.py make FOLDER | run FOLDER NAME OUT.npz [--compile].

`make` writes what both sides start from: FOLDER/NAME.PART.safetensors. `run` prints the median time of a step in microseconds.
"""
import math
import pathlib
import statistics
import sys
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch.optim import swa_utils


class Curve:
    def __init__(self):
        self.losses, self.results, self.micros = [], [], []

    def step(self, f):
        start = time.perf_counter()
        self.losses.append(f().item())
        self.micros.append((time.perf_counter() - start) * 1e6)

    def median(self):
        return statistics.median(self.micros[len(self.micros) // 2:])


class Files:
    def __init__(self, folder, program):
        self.folder, self.program = pathlib.Path(folder), program

    def path(self, part):
        return self.folder / f'{self.program}.{part}.safetensors'

    def load(self, module, part='weights'):
        module.load_state_dict(load_file(self.path(part)))
        return module

    def data(self):
        return load_file(self.path('data'))

    def save(self, data, **modules):
        save_file({k: v.contiguous() for k, v in data.items()}, self.path('data'))
        for part, module in modules.items():
            save_file({k: v.clone().contiguous() for k, v in module.state_dict().items()}, self.path(part))


def update(optimizer, loss, clip=None):
    optimizer.zero_grad()
    loss.backward()
    if clip:
        nn.utils.clip_grad_norm_([p for g in optimizer.param_groups for p in g['params']], clip)
    optimizer.step()


# ---------------------------------------------------------------------------------------------------- fine-tuning

class Trunk(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(1, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8)
        self.conv2, self.norm2 = nn.Conv2d(8, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm1(self.conv1(x))), 2)
        return F.max_pool2d(F.relu(self.norm2(self.conv2(x))), 2).flatten(1)


class Finetuned(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.trunk, self.head = Trunk(), nn.Linear(144, classes)

    def forward(self, x):
        return self.head(self.trunk(x))


def make_finetune(files):
    net = Finetuned()
    with torch.no_grad():
        for _ in range(20):
            net(torch.randn(32, 1, 12, 12))   # running statistics
    patterns = torch.randn(3, 1, 12, 12)
    y = torch.randint(3, (120, 16))
    files.save({'x': patterns[y] + torch.randn(120, 16, 1, 12, 12), 'y': y}, weights=net, head=nn.Linear(144, 3))


def finetune(files, compiled):
    net = files.load(Finetuned())
    net.head = files.load(nn.Linear(144, 3), 'head')
    net.trunk.requires_grad_(False)
    net.trunk.eval()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    forward = compiled(lambda x, y: F.cross_entropy(net(x), y))

    def step(x, y):
        loss = forward(x, y)
        update(optimizer, loss)
        return loss
    data, curve = files.data(), Curve()
    for i, (x, y) in enumerate(zip(data['x'], data['y'])):
        if i == len(data['x']) // 3:
            net.requires_grad_()
            net.train()
        curve.step(lambda: step(x, y))
    return curve


# ------------------------------------------------------------------------------------------------- language model

TOKENS, LENGTH, WIDTH, HEADS = 32, 32, 64, 4


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.qkv, self.projection = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.norm2, self.up, self.down = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def attend(self, x):
        batch, steps, _ = x.shape
        q, k, v = (t.view(batch, steps, HEADS, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.projection(y.transpose(1, 2).reshape(batch, steps, WIDTH))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(TOKENS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks, self.norm = nn.Sequential(Block(), Block()), nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, TOKENS, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.tokens(x) + self.places(torch.arange(x.shape[1])))))


def make_gpt(files):
    net = Gpt()
    nn.init.normal_(net.tokens.weight, std=.1)
    start, stride = torch.randint(TOKENS, (100, 8, 1)), torch.randint(1, 4, (100, 8, 1))
    files.save({'text': (start + stride * torch.arange(LENGTH + 1)) % TOKENS}, weights=net)


def warmup_cosine(warmup, total, lr, least):
    def rate(t):
        if t < warmup:
            return (t + 1) / warmup
        return (least + (lr - least) * (1 + math.cos(math.pi * (t - warmup) / (total - warmup))) / 2) / lr
    return rate


def gpt(files, compiled):
    net, text, curve = files.load(Gpt()), files.data()['text'], Curve()
    groups = [{'params': [p for p in net.parameters() if p.dim() >= 2], 'weight_decay': .1},
              {'params': [p for p in net.parameters() if p.dim() < 2], 'weight_decay': 0.}]
    optimizer = torch.optim.AdamW(groups, lr=3e-3, betas=(.9, .95))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, warmup_cosine(10, len(text), 3e-3, 1e-4))
    forward = compiled(lambda t: F.cross_entropy(net(t[:, :-1]).reshape(-1, TOKENS), t[:, 1:].flatten()))

    def step(batch):
        loss = forward(batch)
        update(optimizer, loss, 1.)
        schedule.step()
        return loss
    for batch in text:
        curve.step(lambda: step(batch))
    return curve


# ------------------------------------------------------------------------------------------------------------ PPO

class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.policy, self.value = nn.Linear(4, 64), nn.Linear(64, 2), nn.Linear(64, 1)

    def forward(self, state):
        h = torch.tanh(self.body(state))
        return F.log_softmax(self.policy(h), -1), self.value(h).squeeze(-1)


def cart_pole(state, action):
    """The cart and pole of Barto, Sutton and Anderson (1983), Euler steps of 20 ms, many at once."""
    x, v, angle, turn = state.T
    force, c, s = np.where(action, 10, -10), np.cos(angle), np.sin(angle)
    t = (force + .05 * turn**2 * s) / 1.1
    turning = (9.8 * s - c * t) / (.5 * (4 / 3 - .1 * c**2 / 1.1))
    pushing = t - .05 * turning * c / 1.1
    state = np.stack([x + .02 * v, v + .02 * pushing, angle + .02 * turn, turn + .02 * turning], 1)
    return state, (abs(state[:, 0]) > 2.4) | (abs(state[:, 2]) > .21)


def make_ppo(files, rounds=6, steps=64, environments=8):
    random = np.random.default_rng(1)
    fresh = lambda n: random.uniform(-.05, .05, (n, 4))
    states, actions, dones = [], [], []
    state = fresh(environments)
    for _ in range(rounds):
        for _ in range(steps):
            action = random.integers(2, size=environments)
            states.append(state)
            actions.append(action)
            state, done = cart_pole(state, action)
            state = np.where(done[:, None], fresh(environments), state)
            dones.append(done)
        states.append(state)
    samples = steps * environments
    shape = lambda a, n, kind: torch.tensor(np.array(a).reshape(rounds, n, environments, *np.array(a).shape[2:])).to(kind)
    done = shape(dones, steps, torch.float32)
    files.save({'states': shape(states, steps + 1, torch.float32), 'actions': shape(actions, steps, torch.int64),
                'done': done, 'rewards': 1 - done,
                'order': torch.stack([torch.stack([torch.randperm(samples) for _ in range(4)]) for _ in range(rounds)])},
               weights=Agent())


def advantages(rewards, values, done):
    result, later = [None] * len(rewards), torch.zeros_like(rewards[0])
    for t in reversed(range(len(rewards))):
        delta = rewards[t] + .99 * values[t + 1] * (1 - done[t]) - values[t]
        result[t] = later = delta + .99 * .95 * (1 - done[t]) * later
    return torch.stack(result)


def ppo(files, compiled):
    agent, data, curve = files.load(Agent()), files.data(), Curve()
    optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3, eps=1e-5)
    chosen = lambda logits, actions: logits.gather(-1, actions.unsqueeze(-1)).squeeze(-1)

    @torch.no_grad()
    def look(states, actions, rewards, done):
        policy, values = agent(states)
        gains = advantages(rewards, values, done)
        return tuple(t.flatten() for t in (chosen(policy[:-1], actions), values[:-1], gains, gains + values[:-1]))

    @compiled
    def forward(states, actions, old_policy, old_value, gain, target):
        policy, value = agent(states)
        gain = (gain - gain.mean()) / (gain.std() + 1e-8)
        ratio = torch.exp(chosen(policy, actions) - old_policy)
        policy_loss = -torch.min(ratio * gain, ratio.clamp(.8, 1.2) * gain).mean()
        held = old_value + (value - old_value).clamp(-.2, .2)
        value_loss = .5 * torch.max((value - target)**2, (held - target)**2).mean()
        entropy = -(policy.exp() * policy).sum(-1).mean()
        return policy_loss + .5 * value_loss - .01 * entropy

    def learn(*batch):
        loss = forward(*batch)
        update(optimizer, loss, .5)
        return loss
    rounds = len(data['states'])
    for i in range(rounds):
        optimizer.param_groups[0]['lr'] = 1e-3 * (1 - i / rounds)
        states, actions = data['states'][i], data['actions'][i]
        old = look(states, actions, data['rewards'][i], data['done'][i])
        samples = [states[:-1].reshape(-1, 4), actions.flatten(), *old]
        for order in data['order'][i]:
            for part in order.chunk(4):
                batch = [t[part] for t in samples]
                curve.step(lambda: learn(*batch))
    return curve


# ----------------------------------------------------------------------------------------------------------- LSTM

class Waves(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(1, 32, batch_first=True), nn.Linear(32, 1)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


def make_lstm(files):
    phase, speed = torch.rand(120, 16, 1) * 6, .2 + torch.rand(120, 16, 1) * .4
    wave = torch.sin(phase + speed * torch.arange(21))
    files.save({'x': wave[..., :20, None] + torch.randn(120, 16, 20, 1) * .05, 'y': wave[..., 20:]}, weights=Waves())


def lstm(files, compiled):
    net, data, curve = files.load(Waves()), files.data(), Curve()
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    average = swa_utils.AveragedModel(net, multi_avg_fn=swa_utils.get_ema_multi_avg_fn(.95))
    average.update_parameters(net)   # its first update copies
    mean = swa_utils.AveragedModel(net)
    forward = compiled(lambda x, y: F.mse_loss(net(x), y))

    def step(x, y):
        loss = forward(x, y)
        update(optimizer, loss)
        average.update_parameters(net)
        return loss

    @torch.no_grad()
    def evaluate(weights, x, y):
        return F.mse_loss(weights(x), y).item()
    for i, (x, y) in enumerate(zip(data['x'], data['y'])):
        curve.step(lambda: step(x, y))
        if i % 10 == 9:
            if i >= len(data['x']) // 2:
                mean.update_parameters(net)
            curve.results += [evaluate(w, data['x'][0], data['y'][0]) for w in (average, mean)]
    return curve


# ----------------------------------------------------------------------------------------------------------- PINN

class Motion(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(1, 32), nn.Linear(32, 32), nn.Linear(32, 1)

    def forward(self, t):
        return 1 + t * t * self.c(torch.tanh(self.b(torch.tanh(self.a(t)))))


def make_pinn(files):
    files.save({'t': torch.rand(200, 64, 1) * 3}, weights=Motion())


def pinn(files, compiled):
    motion, curve = files.load(Motion()), Curve()
    optimizer = torch.optim.Adam(motion.parameters(), lr=1e-3)

    # torch.compile refuses gradients of gradients that cross it: eager in both.
    def step(t):
        t = t.clone().requires_grad_()
        y = motion(t)
        speed, = torch.autograd.grad(y.sum(), t, create_graph=True)
        acceleration, = torch.autograd.grad(speed.sum(), t, create_graph=True)
        loss = (acceleration + torch.sin(y)).square().mean()
        update(optimizer, loss)
        return loss
    for t in files.data()['t']:
        curve.step(lambda: step(t))
    return curve


# ------------------------------------------------------------------------------------------- loop with checkpoints

class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.norm = nn.Linear(16, 64, bias=False), nn.Linear(64, 4), nn.BatchNorm1d(64)

    def forward(self, x):
        return self.b(F.relu(self.norm(self.a(x))))


def make_resume(files):
    x = torch.randn(640, 16)
    files.save({'x': x, 'y': (x @ torch.randn(16, 4)).argmax(1)}, weights=Classifier())


def resume(files, compiled):
    net, data, curve = files.load(Classifier()), files.data(), Curve()
    optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3, momentum=.9)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 120)
    forward = compiled(lambda x, y: F.cross_entropy(net(x), y))

    def step(x, y):
        loss = forward(x, y)
        update(optimizer, loss)
        schedule.step()
        return loss
    for _ in range(6):
        for x, y in zip(data['x'].split(32), data['y'].split(32)):
            curve.step(lambda: step(x, y))
    return curve


# ------------------------------------------------------------------------------------------------------------ GAN

class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.norm = nn.Linear(8, 32, bias=False), nn.Linear(32, 2), nn.BatchNorm1d(32)

    def forward(self, noise):
        return self.b(F.relu(self.norm(self.a(noise))))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 32), nn.Linear(32, 1)

    def forward(self, x):
        return self.b(F.leaky_relu(self.a(x), .2))


def make_gan(files):
    angle = torch.rand(100, 32) * 2 * math.pi
    files.save({'real': torch.stack([angle.cos(), angle.sin()], -1), 'noise': torch.randn(100, 32, 8)},
               generator=Generator(), critic=Critic())


def gan(files, compiled):
    generator, critic = files.load(Generator(), 'generator'), files.load(Critic(), 'critic')
    for_generator = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(.5, .999))
    for_critic = torch.optim.Adam(critic.parameters(), lr=2e-3, betas=(.5, .999))
    data, curve = files.data(), Curve()

    def judge(x, label):
        logits = critic(x)
        return F.binary_cross_entropy_with_logits(logits, torch.full_like(logits, label))
    judge_both = compiled(lambda real, noise: judge(real, 1.) + judge(generator(noise).detach(), 0.))
    judge_fake = compiled(lambda noise: judge(generator(noise), 1.))

    def step(real, noise):
        critic_loss = judge_both(real, noise)
        update(for_critic, critic_loss)
        loss = judge_fake(noise)
        update(for_generator, loss)
        return critic_loss + loss

    @torch.no_grad()
    def sample(noise):
        return generator(noise).norm(dim=-1).mean().item()
    for i, (real, noise) in enumerate(zip(data['real'], data['noise'])):
        curve.step(lambda: step(real, noise))
        if i % 25 == 24:
            generator.eval()
            curve.results.append(sample(data['noise'][0]))
            generator.train()
    return curve


# ------------------------------------------------------------------------------------------------------------ VAE

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.mean, self.log_variance = nn.Linear(68, 48, bias=False), nn.Linear(48, 4), nn.Linear(48, 4)
        self.norm = nn.BatchNorm1d(48)

    def forward(self, x, classes):
        h = F.relu(self.norm(self.a(torch.cat([x, classes], 1))))
        return self.mean(h), self.log_variance(h)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 48), nn.Linear(48, 64)

    def forward(self, z, classes):
        return self.b(F.relu(self.a(torch.cat([z, classes], 1))))


def make_vae(files):
    labels = torch.randint(4, (240, 16))
    patterns = torch.rand(4, 64)
    files.save({'images': ((patterns[labels] + torch.randn(240, 16, 64) * .1).clamp(0, 1) * 255).to(torch.uint8),
                'labels': labels.to(torch.uint8), 'noise': torch.randn(240, 16, 4)}, encoder=Encoder(), decoder=Decoder())


def vae(files, compiled):
    encoder, decoder = files.load(Encoder(), 'encoder'), files.load(Decoder(), 'decoder')
    for_encoder = torch.optim.Adam(encoder.parameters(), lr=2e-3)
    for_decoder = torch.optim.SGD(decoder.parameters(), lr=.05, momentum=.9, nesterov=True)

    def plain(image, label, noise, beta):
        x, classes = image.float() / 255, F.one_hot(label.long(), 4).float()
        mean, log_variance = encoder(x, classes)
        logits = decoder(mean + torch.exp(.5 * log_variance) * noise, classes)
        reconstruction = F.binary_cross_entropy_with_logits(logits, x, reduction='sum') / len(x)
        divergence = -.5 * torch.sum(1 + log_variance - mean.square() - log_variance.exp()) / len(x)
        return reconstruction + beta * divergence
    elbo, data, curve = compiled(plain), files.data(), Curve()

    def accumulate(batches, beta):
        total = 0
        for batch in batches:
            loss = elbo(*batch, beta) / 4
            loss.backward()
            total = total + loss.detach()
        for optimizer in for_encoder, for_decoder:
            optimizer.step()
            optimizer.zero_grad()
        return total
    steps = len(data['images']) // 4
    for i in range(steps):
        beta = torch.tensor(min(1., i / 20))
        for_encoder.param_groups[0]['lr'] = 2e-3 if i < steps // 2 else 5e-4
        batches = list(zip(*(data[k][4 * i:4 * i + 4] for k in ('images', 'labels', 'noise'))))
        curve.step(lambda: accumulate(batches, beta))
        if i % 10 == 9:
            encoder.eval()
            with torch.no_grad():
                curve.results.append(plain(*(data[k][0] for k in ('images', 'labels', 'noise')), torch.tensor(1.)).item())
            encoder.train()
    return curve


PROGRAMS = {f.__name__: (f, make) for f, make in (
    (finetune, make_finetune), (gpt, make_gpt), (ppo, make_ppo), (lstm, make_lstm), (pinn, make_pinn),
    (resume, make_resume), (gan, make_gan), (vae, make_vae))}


def main():
    what, folder, *rest = sys.argv[1:]
    torch.set_num_threads(1)
    if what == 'make':
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        for name, (_, make) in PROGRAMS.items():
            torch.manual_seed(1)
            make(Files(folder, name))
        return
    name, out = rest[:2]
    compiled = torch.compile if '--compile' in rest else lambda f: f
    curve = PROGRAMS[name][0](Files(folder, name), compiled)
    np.savez(out, losses=np.float32(curve.losses), results=np.float32(curve.results))
    print(f'{curve.median():.1f}')


if __name__ == '__main__':
    main()
