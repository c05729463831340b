"""Gradient canaries on a small transformer, trained from random weights: `python benchmarks/transformer_canaries.py`.

One block of causal self-attention predicts the next of eight tokens. Gradients of single texts are clipped, summed and
released with noise for epsilon 4, and 1,000 canaries beside them: ten runs with that noise, ten with a quarter of it.
"""

import sys

import numpy as np
import torch
from torch import nn
from torch.func import functional_call, grad, vmap

from audits.training.apart import check_apart
from audits.training.membership import check_run
from dpaudit import Claim, training_noise
from dpaudit.training import Training, Watch, conform, gradient_canaries

TEXTS, LENGTH, WORDS, WIDTH, CANARIES = 200, 8, 16, 16, 1_000
CLAIM = Claim(epsilon=4.0, delta=1e-5, neighbours="add_remove", unit="one text")
LEVEL, STRICT = 0.05, 1e-3
SETTINGS = {"16 full batches": (1.0, 16), "40 Poisson samples, rate 1/4": (0.25, 40)}


class Transformer(nn.Module):
    """Embeddings, one head of causal attention, two layers, and the logits of the next token."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Parameter(0.1 * torch.randn(LENGTH, WIDTH))
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.inner, self.outer = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)

    def forward(self, tokens):
        x = self.words(tokens) + self.places
        attention = self.query(x) @ self.key(x).transpose(-1, -2) / WIDTH**0.5
        later = torch.triu(torch.full((LENGTH, LENGTH), -1e9), diagonal=1)
        x = x + torch.softmax(attention + later, dim=-1) @ self.value(x)
        return self.head(self.norm(x + self.outer(torch.relu(self.inner(x)))))


def texts(rng):
    """Texts in which each token is the last one plus one or two."""
    steps = rng.integers(1, 3, (TEXTS, LENGTH + 1))
    return torch.tensor((rng.integers(0, WORDS, (TEXTS, 1)) + np.cumsum(steps, axis=1)) % WORDS)


def trained(setting, factor, seed):
    """Train once with `factor` times the declared noise; return declaration, watch, coins and the final loss."""
    rate, steps = SETTINGS[setting]
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    model, data = Transformer(), texts(rng)
    weights = {name: value.detach() for name, value in model.named_parameters()}
    size = sum(value.numel() for value in weights.values())
    slots, coins = gradient_canaries(TEXTS, CANARIES, size, rng)
    noise = training_noise(CLAIM.epsilon, CLAIM.delta, rate, steps)
    records = TEXTS + int(coins.sum())
    declared = Training(noise_multiplier=noise, max_grad_norm=1.0, sample_rate=rate, steps=steps, records=records)
    watch = Watch(records=records, slots=slots)

    def loss(values, text):
        return nn.functional.cross_entropy(functional_call(model, values, (text[:-1],)), text[1:])

    for _ in range(steps):
        batch = np.flatnonzero(rng.random(records) < rate)
        gradients = vmap(grad(loss), in_dims=(None, 0))(weights, data[batch[batch < TEXTS]])
        rows = torch.cat([value.flatten(start_dim=1) for value in gradients.values()], dim=1).numpy()
        rows *= np.minimum(1, 1 / np.linalg.norm(rows, axis=1))[:, None]
        summed = np.concatenate([rows.sum(axis=0), np.isin(slots.members, batch) & coins])[:, None]
        noisy = summed + factor * declared.stddev * rng.standard_normal(summed.shape)
        noisy = torch.tensor(watch.step(noisy, summed, batch)[:size, 0], dtype=torch.float32)
        parts = torch.split(noisy / (rate * TEXTS), [value.numel() for value in weights.values()])
        weights = {
            name: value - part.reshape(value.shape) for (name, value), part in zip(weights.items(), parts, strict=True)
        }
    return declared, watch, coins, float(vmap(loss, in_dims=(None, 0))(weights, data).mean())


def measured(setting, factor, seed):
    """Return the final loss, both bounds on epsilon at `LEVEL`, and which checks flag the run at `STRICT`."""
    declared, watch, coins, loss = trained(setting, factor, seed)
    rng = np.random.default_rng(seed)
    whole, apart = (
        lambda level: check_run(watch.scores(), coins, declared, CLAIM, level, rng),
        lambda level: check_apart(watch, coins, declared, CLAIM, level),
    )
    flagged = {
        "conformance": bool(conform(declared, watch, significance=STRICT).findings),
        "whole run": whole(STRICT).verdict == "violation",
        "canaries apart": apart(STRICT).verdict == "violation",
    }
    return loss, whole(LEVEL).epsilon_lower, apart(LEVEL).epsilon_lower, flagged


def main(runs):
    for setting in SETTINGS:
        for factor in (1.0, 0.25):
            losses, bounds, assumed, flagged = zip(
                *(measured(setting, factor, seed) for seed in range(runs)), strict=True
            )
            counts = {check: sum(run[check] for run in flagged) for check in flagged[0]}
            line = (
                f"{setting}, {factor:g} of the noise: loss {np.mean(losses):.2f}; epsilon at least {min(bounds):.2f} to"
            )
            line += f" {max(bounds):.2f}, canaries apart {min(assumed):.2f} to {max(assumed):.2f}"
            print(f"{line}; flagged {counts} of {runs}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
