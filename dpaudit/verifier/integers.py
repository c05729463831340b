"""Integer noise on a Poisson sample whose record gives way to one that moves the answer the other way."""

import math

import numpy as np

from dpaudit.verifier.losses import Loss, discrete, reverse
from dpaudit.verifier.mechanisms import sides_of
from dpaudit.verifier.refusals import Table, positive

_LINE = ("discrete_laplace", "discrete_gaussian", "truncated_discrete_gaussian")


def either_answer(part: Table) -> Loss | None:
    """Return the larger curve of both orders of a table of two laws, one of which a sample without the record has."""
    noise = _noise(part)
    if noise.get("name") != "finite":
        return None
    (loss,) = sides_of(noise, noise["neighbours"])[0]
    return loss if reverse(loss) == loss else ("choice", frozenset({loss, reverse(loss)}))


def opposed(part: Table, rate: float, *, low: bool) -> Loss | None:
    """Return the law of ln (first / second), first and second with the record at +move and at -move; None if unknown.

    Outputs lie around 0, the noise being even: the ratio of noise at k - move and at k, in logarithms, is `away`.
    """
    noise = _noise(part)
    name, lost = noise.get("name"), 0.0
    if name not in _LINE:
        return None
    if name == "discrete_laplace":
        move, unit = noise["l1_sensitivity"], positive(noise, "scale")
        at = np.arange(-move, move + 1)
        masses = np.exp(-abs(at) / unit) * math.tanh(0.5 / unit)
        masses[[0, -1]] = math.exp(-move / unit) / (1 + math.exp(-1 / unit))
        away = (abs(at) - abs(at - move)) / unit
    else:
        move, unit = noise["l2_sensitivity"], positive(noise, "stddev")
        cut = name != "discrete_gaussian"
        reach = round(noise["cut"] * unit) if cut else math.ceil(22 * unit) + move + 1
        at = np.arange(-reach, reach + 1)
        masses = np.exp(-((at / unit) ** 2) / 2)
        masses /= masses.sum()
        away = np.where(cut & (at < move - reach), -np.inf, (at - move / 2) * (move / unit**2))
        lost = rate * float(masses[max(0, len(at) - move) :].sum()) if cut else 0.0 if low else 1e-106
    with np.errstate(divide="ignore"):
        near = np.log1p(rate * np.expm1(np.minimum(away, 1.0))) if rate < 1 else np.minimum(away, 1.0)
    grown = np.where(away > 1, away + np.log(rate + (1 - rate) * np.exp(-np.maximum(away, 1.0))), near)
    held = np.isfinite(grown) & np.isfinite(grown[::-1])
    first, loss = masses * np.exp(grown), grown[held] - grown[::-1][held]
    lost += float(first[~held].sum())
    return discrete(list(zip(loss.tolist(), first[held].tolist(), strict=True)), min(1.0, lost), min(1.0, lost))


def _noise(part: Table) -> Table:
    """Return the mechanism of a part that is one release, post-processed or not; empty for any other."""
    while part["node"] in ("post_process", "billboard"):
        part = part["part"]
    noise: Table = part.get("mechanism", {})
    return {} if "stated" in noise else noise
