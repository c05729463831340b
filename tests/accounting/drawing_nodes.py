"""Random compositions of samples, averages, secret places, groups and choices, and simple losses of equal curve."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpaudit.accounting.derivation.groups import chain
from dpaudit.model import losses
from dpaudit.model.losses.sampled_gaussian import SampledOrder

Law = Sequence[tuple[float, float]]
"""Pairs of probabilities of one output, under P and under Q."""
Drawn = tuple[str, losses.Composition, losses.Composition, float]


def draw_nodes(rng: np.random.Generator) -> Drawn:
    """Return a kind, a composition, one of simple losses that has the same curve, and a delta to ask about.

    A Gaussian part makes the contour integral of the truth converge; one kind of node stands beside it, often enough
    for epsilons of 1 to 10.
    """
    delta = float(10 ** rng.uniform(-12, -3))
    kind = str(rng.choice(tuple(NODES)))
    times = int(10 ** rng.uniform(0, 3))
    node, simple = NODES[kind](rng, times)
    beside = losses.Composition.of(losses.GaussianLoss(mu=float(rng.uniform(0.3, 2))))
    return kind, beside + losses.Composition.of(node) * times, beside + losses.Composition.of(simple) * times, delta


def _law(rng: np.random.Generator, size: float) -> Law:
    """Return two laws of three or four outputs, whose odds differ by about `size`."""
    p = rng.dirichlet([3.0] * int(rng.integers(3, 5)))
    q = p * np.exp(size * rng.uniform(-1, 1, len(p)))
    q /= q.sum()
    return tuple((float(a), float(b)) for a, b in zip(p, q, strict=True))


def _loss(law: Law) -> losses.DiscreteLoss:
    """Return the loss of two laws."""
    return losses.DiscreteLoss(atoms=tuple((math.log(p / q), p) for p, q in law))


def _size(rng: np.random.Generator, times: int) -> float:
    return float(rng.uniform(0.3, 2) / math.sqrt(times))


def _order(rng: np.random.Generator) -> SampledOrder:
    return "add" if rng.random() < 0.5 else "remove"


def _on_sample(law: Law, rate: float, order: SampledOrder) -> Law:
    """Return both laws of the output where the record is in the sample with probability `rate`, in one order."""
    mixed = [((1 - rate) * q + rate * p, q) for p, q in law]
    return mixed if order == "remove" else [(q, p) for p, q in mixed]


def _sampled_atoms(rng: np.random.Generator, times: int) -> tuple[losses.Loss, losses.Loss]:
    """A sample of one release with few outputs."""
    law, rate, order = _law(rng, _size(rng, times) * 4), float(rng.uniform(0.02, 0.9)), _order(rng)
    return losses.SampledLoss(inside=((_loss(law), 1),), rate=rate, order=order), _loss(_on_sample(law, rate, order))


def _sampled_pair(rng: np.random.Generator, times: int) -> tuple[losses.Loss, losses.Loss]:
    """A sample of two releases, which see one sample together."""
    laws = [_law(rng, _size(rng, times) * 3) for _ in range(2)]
    rate, order = float(rng.uniform(0.05, 0.9)), _order(rng)
    both = [(a * c, b * d) for a, b in laws[0] for c, d in laws[1]]
    inside: Any = tuple((_loss(law), 1) for law in laws)
    return losses.SampledLoss(inside=inside, rate=rate, order=order), _loss(_on_sample(both, rate, order))


def _sampled_response(rng: np.random.Generator, times: int) -> tuple[losses.Loss, losses.Loss]:
    """A sample of a randomised response."""
    epsilon, rate, order = _size(rng, times) * 4, float(rng.uniform(0.02, 0.9)), _order(rng)
    true = 1 / (1 + math.exp(-epsilon))
    law = ((true, true * math.exp(-epsilon)), (true * math.exp(-epsilon), true))
    noise = losses.SampledLoss(inside=((losses.ApproximateLoss(epsilon=epsilon), 1),), rate=rate, order=order)
    return noise, _loss(_on_sample(law, rate, order))


def _average(rng: np.random.Generator, times: int) -> tuple[losses.Loss, losses.Loss]:
    """One of two releases, by a public coin."""
    laws, share = [_law(rng, _size(rng, times)) for _ in range(2)], float(rng.uniform(0.1, 0.9))
    weighted = ((share, _loss(laws[0])), (1 - share, _loss(laws[1])))
    shown = [(w * p, w * q) for w, law in ((share, laws[0]), (1 - share, laws[1])) for p, q in law]
    return losses.AverageLoss(options=weighted), _loss(shown)


def _allocated(rng: np.random.Generator, times: int) -> tuple[losses.Loss, losses.Loss]:
    """A randomised response at one secret step of several: the number of answers that lean one way decides."""
    epsilon, steps, order = _size(rng, times) * 2, int(rng.integers(2, 9)), _order(rng)
    true = 1 / (1 + math.exp(-epsilon))
    false = true * math.exp(-epsilon)
    law = []
    for leaning in range(steps + 1):  # answers that lean as the record does: unlikely without it
        q = math.comb(steps, leaning) * false**leaning * true ** (steps - leaning)
        mean = (leaning * math.exp(epsilon) + (steps - leaning) * math.exp(-epsilon)) / steps
        law.append((q * mean, q) if order == "remove" else (q, q * mean))
    inside = ((losses.ApproximateLoss(epsilon=epsilon), 1),)
    return losses.AllocatedLoss(inside=inside, steps=steps, order=order), _loss(law)


def _longer(loss: losses.Loss, size: int) -> losses.Loss:
    """Return the loss of several records that change one after another."""
    return losses.ComposedLoss(parts=chain(losses.Composition.of(loss), size).parts)


def _group(rng: np.random.Generator, times: int) -> tuple[losses.Loss, losses.Loss]:
    """Several records of one person under Laplace or Gaussian noise: the noise moved so many times as far."""
    size, step = int(rng.integers(2, 6)), _size(rng, times) / 3
    if rng.random() < 0.5:
        return _longer(losses.LaplaceLoss(shift=step), size), losses.LaplaceLoss(shift=size * step)
    return _longer(losses.GaussianLoss(mu=step), size), losses.GaussianLoss(mu=size * step)


def _sampled_group(rng: np.random.Generator, times: int) -> tuple[losses.Loss, losses.Loss]:
    """One record on a sample, written as a group of one, beside its own loss."""
    rate, order = float(min(0.9, rng.uniform(0.05, 0.5) / math.sqrt(times))), _order(rng)
    loss = losses.SampledGaussianLoss(mu=float(rng.uniform(0.4, 2)), rate=rate, order=order)
    return losses.SampledLoss(inside=((losses.GaussianLoss(mu=loss.mu), 1),), rate=rate, order=order), loss


def _choice(rng: np.random.Generator, times: int) -> tuple[losses.Loss, losses.Loss]:
    """Whichever release an adversary picks, of one kind of noise: the largest of them."""
    sizes = sorted(_size(rng, times) for _ in range(int(rng.integers(2, 4))))
    if rng.random() < 0.5:
        return losses.ChoiceLoss(options=tuple(losses.LaplaceLoss(shift=x) for x in sizes)), losses.LaplaceLoss(
            shift=sizes[-1]
        )
    return losses.ChoiceLoss(options=tuple(losses.ApproximateLoss(epsilon=x) for x in sizes)), losses.ApproximateLoss(
        epsilon=sizes[-1]
    )


NODES: dict[str, Callable[[np.random.Generator, int], tuple[losses.Loss, losses.Loss]]] = {
    "sampled atoms": _sampled_atoms,
    "sampled pair": _sampled_pair,
    "sampled response": _sampled_response,
    "average": _average,
    "allocated response": _allocated,
    "group": _group,
    "sampled Gaussian inside": _sampled_group,
    "choice": _choice,
}
"""What may stand beside the Gaussian release: a node, and simple losses of the same curve, derived apart."""
