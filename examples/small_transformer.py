"""Canaries in one training run of a small transformer, from random weights, at a certified epsilon of 4.

The model reads 16 characters of the topics that Python ships for `help()` and predicts the next one: one layer of
attention, of width 32. A record is one such text. Two kinds of canaries are in by a fair coin each: 10,000 gradients
along coordinates of their own, and 200 texts of random characters, which are attacked by their loss in the trained
model. Needs PyTorch.

    python examples/small_transformer.py              # one run, and what both kinds of canaries show
    python examples/small_transformer.py --quarter    # 10 runs with a quarter of the noise, and 10 with all of it
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pydoc_data.topics import topics

import numpy as np
import torch
from torch import Tensor
from torch.func import functional_call, grad, vmap
from torch.nn import Embedding, LayerNorm, Linear, Module, Parameter
from torch.nn.functional import cross_entropy, relu, scaled_dot_product_attention

from audits import audit_scores
from audits.training.training_audit import judge
from audits.training.training_result import TrainingAudit
from dpaudit import Claim, training_epsilon, training_noise
from dpaudit.model.scores_result import ScoresResult
from dpaudit.training import Planted, Training, Watch, gradient_canaries

CLAIM = Claim(epsilon=4.0, delta=1e-5, neighbours="add_remove", unit="one text")
LENGTH, WIDTH, TEXTS, SECRETS, GRADIENTS = 16, 32, 400, 200, 10_000
RATE, STEPS, SPEED, SIGNIFICANCE = 0.5, 30, 0.01, 0.01
ALPHABET = " abcdefghijklmnopqrstuvwxyz"


class Transformer(Module):
    """Characters (LENGTH,) to scores of the character that comes next."""

    def __init__(self) -> None:
        super().__init__()
        self.letters, self.last = Embedding(len(ALPHABET), WIDTH), Linear(WIDTH, len(ALPHABET))
        self.places = Parameter(0.1 * torch.randn(LENGTH, WIDTH))
        self.attention, self.wide, self.narrow = Linear(WIDTH, 3 * WIDTH), Linear(WIDTH, WIDTH), Linear(WIDTH, WIDTH)
        self.before, self.between = LayerNorm(WIDTH), LayerNorm(WIDTH)

    def forward(self, text: Tensor) -> Tensor:
        shown = self.letters(text) + self.places
        query, key, value = self.attention(self.before(shown)).chunk(3, dim=-1)
        shown = shown + scaled_dot_product_attention(query, key, value)
        shown = shown + self.narrow(relu(self.wide(self.between(shown))))
        scores: Tensor = self.last(shown[-1])
        return scores


@dataclass(frozen=True, kw_only=True)
class Trained:
    """A watched run: `planted` says which canaries were in, `secrets` are the losses of the random texts."""

    watch: Watch
    planted: Planted
    secrets: tuple[np.ndarray, np.ndarray]
    accuracy: float


def texts(rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Return texts with their next character: those to train on, as many to test on, and then random ones."""
    plain = "".join(letter for letter in " ".join(topics.values()).lower() if letter in ALPHABET)
    starts = rng.permutation(len(plain) // LENGTH - 1)[: 2 * TEXTS] * LENGTH
    read = [[ALPHABET.index(letter) for letter in plain[start : start + LENGTH + 1]] for start in starts]
    drawn = rng.integers(len(ALPHABET), size=(SECRETS, LENGTH + 1))
    rows = torch.as_tensor(np.concatenate([read, drawn]))
    return rows[:, :-1], rows[:, -1]


def declared(noise: float) -> Training:
    """Return what is declared of a run with this noise multiplier."""
    return Training(noise_multiplier=noise, max_grad_norm=1.0, sample_rate=RATE, steps=STEPS, records=TEXTS)


def train(training: Training, factor: float, seed: int) -> Trained:
    """Return a run by DP-SGD with `factor` times the declared noise, watched."""
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    model, (inputs, following) = Transformer(), texts(rng)
    weights = {name: weight.detach() for name, weight in model.named_parameters()}

    def loss(weights: dict[str, Tensor], text: Tensor, letter: Tensor) -> Tensor:
        return cross_entropy(functional_call(model, weights, (text,)), letter)

    gradients = vmap(grad(loss), in_dims=(None, 0, 0))
    coins = rng.random(SECRETS) < 0.5
    members = np.concatenate([np.arange(TEXTS), 2 * TEXTS + np.flatnonzero(coins)])
    size = sum(weight.numel() for weight in weights.values())
    slots, planted = gradient_canaries(len(members), GRADIENTS, size, rng)
    watch = Watch(records=len(members) + int(planted.sum()), slots=slots)
    for _ in range(STEPS):
        batch = np.flatnonzero(rng.random(watch.records) < RATE)
        taken = torch.as_tensor(members[batch[batch < len(members)]])
        rows = torch.cat([g.flatten(1) for g in gradients(weights, inputs[taken], following[taken]).values()], dim=1)
        clipped = (rows / rows.norm(dim=1, keepdim=True).clamp(min=training.max_grad_norm)).sum(dim=0)
        canaries = training.max_grad_norm * np.isin(slots.members, batch)
        summed = np.concatenate([clipped.double().numpy(), canaries])[:, None]
        released = watch.step(summed + factor * training.stddev * rng.standard_normal(summed.shape), summed, batch)
        moves = torch.as_tensor(released[:size, 0]).split([weight.numel() for weight in weights.values()])
        for weight, move in zip(weights.values(), moves, strict=True):
            weight.sub_(SPEED * move.reshape(weight.shape))
    with torch.no_grad():
        scores = vmap(lambda text: functional_call(model, weights, (text,)))(inputs)
        losses = cross_entropy(scores, following, reduction="none").numpy()[2 * TEXTS :]
        right = (scores.argmax(dim=1) == following)[TEXTS : 2 * TEXTS]
    return Trained(
        watch=watch,
        planted=Planted(features=inputs.numpy(), labels=following.numpy(), slots=slots, included=planted),
        secrets=(losses[coins], losses[~coins]),
        accuracy=float(right.float().mean()),
    )


def attacked(training: Training, run: Trained, rng: np.random.Generator) -> tuple[TrainingAudit, ScoresResult]:
    """Return what the gradients show, and what the random texts show."""
    audit = judge(run.watch, run.planted, training=training, claim=CLAIM, rng=rng, significance=SIGNIFICANCE)
    ins, outs = (-losses for losses in run.secrets)
    return audit, audit_scores(ins, outs, CLAIM, sampling="canaries", rng=rng, significance=SIGNIFICANCE)


def main(arguments: Sequence[str]) -> None:
    """Print what one run shows, or how many of 20 runs are flagged."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quarter", action="store_true", help="ten runs with a quarter of the noise, ten with all")
    training = declared(training_noise(CLAIM.epsilon, CLAIM.delta, RATE, STEPS))
    if parser.parse_args(arguments).quarter:
        for factor in (0.25, 1.0):
            flagged: Counter[str] = Counter()
            for seed in range(10):
                audit, secrets = attacked(training, train(training, factor, seed), np.random.default_rng(seed))
                flagged.update(check.name for check in audit.checks if check.verdict == "violation")
                flagged.update({"audit": audit.verdict == "violation", "random texts": secrets.verdict == "violation"})
            print(f"{factor:g} of the noise, 10 runs flagged by: {dict(flagged)}")
        return
    run = train(training, 1.0, 0)
    audit, secrets = attacked(training, run, np.random.default_rng(0))
    low, high = training_epsilon(training, CLAIM.delta)
    noise, delta = training.noise_multiplier, CLAIM.delta
    print(f"Certified: epsilon {low:.4f} to {high:.4f} at delta {delta:g}, noise multiplier {noise:.4g}")
    print(f"Next character right: {run.accuracy:.2f} of texts that were not trained on")
    print(audit.text())
    whole = next(check for check in audit.checks if check.name == "whole run")
    print(f"Gradients, whole run: epsilon {whole.epsilon_lower:.3g} at least, without assumption")
    area, least = secrets.auroc.value, secrets.epsilon_lower
    print(f"Random texts: epsilon {least:.3g} at least, AUROC {area:.2f}, {secrets.verdict}")


if __name__ == "__main__":
    main(sys.argv[1:])
