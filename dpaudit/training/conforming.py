"""Layer 0: noise, clipping, sampling and steps of a run against its declaration, without any attack.

Each check is a test of one number with its share of the significance, and says the smallest fault that it would have
caught nine times in ten. Noise: the sum of squared noise over its declared variance is chi-square. Sampling: batch
sizes add up to a binomial count; how batches were drawn is looked at as in `dpaudit.training.batch_checks`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import bdtr, bdtrc, gammainccinv, gammaincinv, ndtri

from dpaudit.checks import open_probability
from dpaudit.model.condition import Condition
from dpaudit.model.mechanism import Array
from dpaudit.model.trace import Finding
from dpaudit.training.batch_checks import DrawnBatches
from dpaudit.training.check import Check
from dpaudit.training.noise_beside_sums import noise_follows_sums, noise_kept, noise_shared, same_directions
from dpaudit.training.noise_checks import noise_law_check, size_of_steps
from dpaudit.training.releases import released_apart, repeated_steps
from dpaudit.training.sampling import conform_batches
from dpaudit.training.watching import Training, Watch

POWER = 0.9
_ROUNDING = 1e-4  # relative; what single precision and a clipping constant of 1e-6 may add to a norm
_CHECKS = 7
_CHANGED = 1.5
_BESIDE = 0.01
"""The part of the share of a check that a further look at the noise has."""

_FINGERPRINT = 8
_COARSE = 30
"""Noise of so few values is alike in many steps although each is drawn afresh."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conformity:
    """All checks of a run; `unseen` names what the loop did not report and nobody could look at.

    >>> watch = Watch(records=10)
    >>> _ = watch.step(np.ones((2, 1)))
    >>> declared = Training(noise_multiplier=1, max_grad_norm=1, sample_rate=0.1, steps=1, records=10)
    >>> conform(declared, watch).unseen
    ('noise', 'clipping norm', 'sampling rate')
    """

    checks: tuple[Check, ...]
    unseen: tuple[str, ...]
    significance: float

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What disagrees."""
        return tuple(
            Finding(rule=check.rule, where=check.name, message=check.message) for check in self.checks if check.rule
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """What departs from the declaration in the safe direction, in sentences; the declared epsilon holds."""
        return tuple(check.safer for check in self.checks if check.safer)

    @property
    def noise_caught(self) -> float:
        """The factor of missing noise that would have been caught, 0 where the noise was not seen."""
        return next((check.caught_below for check in self.checks if check.name == "noise"), 0.0)

    def conditions(self) -> tuple[Condition, ...]:
        """Return each check as a condition of the certificate: checked, violated, or assumed where unseen."""
        looked = (
            Condition(kind="training_loop", about=(check.name,), text=check.sentence).seen(holds=not check.rule)
            for check in self.checks
        )
        blind = (Condition(kind="training_loop", about=(name,)) for name in self.unseen)
        return (*looked, *blind)


def conform(training: Training, watch: Watch, *, significance: float = 1e-6) -> Conformity:
    """Return the checks of what `watch` saw against `training`.

    Rules: `DPA212` less noise than declared or noise of another law, in single steps or over all of them, `DPA213`
    another number of steps, `DPA220` a contribution above the clipping norm, `DPA227` noise that was used before,
    `DPA326` another sampling rate, dependent samples or a sampler that draws otherwise than declared; and what no noise
    covers, see `dpaudit.training.releases`.
    More noise than declared is no finding: it is a remark where the noise of each step is normal and as large as
    declared at least, since normal noise of the declared size and fresh noise of the rest make it up; else it is noise
    of another law.
    Guarantee: a run that is what it declares is flagged with probability at most `significance`; the test of
    contributions without `summed` rests on a normal approximation.

    >>> rng = np.random.default_rng(0)
    >>> watch = Watch(records=100)
    >>> for _ in range(50):
    ...     _ = watch.step(rng.normal(0, 0.3, (20, 2)), np.zeros((20, 2)), np.flatnonzero(rng.random(100) < 0.1))
    >>> declared = Training(noise_multiplier=4, max_grad_norm=0.1, sample_rate=0.1, steps=50, records=100)
    >>> [finding.rule for finding in conform(declared, watch).findings]
    ['DPA212']
    """
    share = open_probability("significance", significance) / _CHECKS
    noise = tuple(_noise(training, watch, share))
    sized = _of_observed_size(training, noise[0]) if noise and noise[0].safer else training
    of_each = tuple(_of_each_parameter(training, watch, share * _BESIDE))
    if noise and not noise[0].rule:
        seen = _without_larger_noise(training, watch, share) if noise[0].safer else watch
        noise += tuple(noise_law_check(training, seen, share * (1 - _BESIDE)))
        noise += tuple(noise_follows_sums(training, seen, share * _BESIDE))
    checks_of = {
        "noise": (*_repeated(watch, share * _BESIDE), *noise[:1], *of_each, *noise[1:]),
        "clipping norm": tuple(_clipping(sized, watch, share)),
        "sampling rate": tuple(_sampling(training, watch, share)),
        "number of steps": (_steps(training, watch),),
    }
    checks = tuple(check for group in checks_of.values() for check in group)
    unseen = tuple(name for name, group in checks_of.items() if not group)
    checks += tuple(released_apart(watch))
    return Conformity(checks=checks, unseen=unseen, significance=significance)


def _noise(training: Training, watch: Watch, share: float) -> Iterator[Check]:
    """Yield the chi-square test of the noise's size."""
    coordinates, squares = watch.coordinates, watch.squares
    if not coordinates:
        return
    half = coordinates / 2
    scaled = squares / training.stddev**2 / 2
    low, high = float(gammaincinv(half, share / 2)), float(gammainccinv(half, share / 2))
    observed = math.sqrt(squares / coordinates)
    message = (
        f"The noise has standard deviation {observed:.6g}, {observed / training.stddev:.4g} times the declared "
        f"{training.stddev:.6g}{_over_steps(training.stddev, watch.noises())}"
    )
    yield Check(
        name="noise",
        observed=observed,
        declared=training.stddev,
        caught_below=math.sqrt(low / float(gammaincinv(half, POWER))),
        caught_above=math.sqrt(high / float(gammainccinv(half, POWER))),
        rule="DPA212" if scaled < low else "",
        message=f"{message}." if scaled < low else "",
        safer=f"{message}: more than declared. The declared epsilon holds." if scaled > high else "",
    )


def _over_steps(stddev: float, noises: list[Array]) -> str:
    """Return, in words, how many steps have no noise, or how its size changes from first to last steps, if it does."""
    sizes = np.sqrt([float((noise**2).mean()) / stddev**2 for noise in noises if noise.size])
    bare, some = int((sizes == 0).sum()), max(1, len(sizes) // 5)
    first, last = (float(np.sqrt((part**2).mean())) for part in (sizes[:some], sizes[-some:]))
    if bare:
        return f"; {bare} of {len(sizes)} steps have none"
    changed = max(first, last) > _CHANGED * min(first, last)
    return f"; {first:.3g} times in the first fifth of the steps and {last:.3g} times in the last" if changed else ""


def _of_each_parameter(training: Training, watch: Watch, share: float) -> Iterator[Check]:
    """Yield a finding for the parameters whose noise, seen by itself, is smaller than declared."""
    parts: dict[str, list[Array]] = {}
    for step in watch.taken:
        for name, noise in step.noise_by_parameter().items():
            parts.setdefault(name, []).append(noise.ravel())
    sizes: dict[str, float] = {}
    for name, noises in parts.items() if len(parts) > 1 else ():
        noise = np.concatenate(noises)
        low = float(gammaincinv(noise.size / 2, share / len(parts)))
        if noise.size and (noise**2).sum() / training.stddev**2 / 2 < low:
            sizes[name] = math.sqrt(float((noise**2).mean())) / training.stddev
    if sizes:
        named = ", ".join(f"{name} ({size:.3g} times the declared)" for name, size in sizes.items())
        yield Check(
            name="noise of each parameter",
            observed=min(sizes.values()),
            declared=1.0,
            rule="DPA212",
            message=f"The noise of some parameters is smaller than declared: {named}.",
        )


def _of_observed_size(training: Training, noise: Check) -> Training:
    """Return the declaration with noise of the size that was observed: the law of larger noise is looked at there."""
    return replace(training, noise_multiplier=noise.observed / training.max_grad_norm)


def _without_larger_noise(training: Training, watch: Watch, share: float) -> Watch:
    """Return the watch with noise, and sums beside it, divided by what the noise has beyond its declared size.

    That is one factor, or one of each step of larger noise where the sizes of steps differ.
    """
    noises = watch.noises()
    sizes = np.sqrt([float((noise**2).mean()) if noise.size else 0.0 for noise in noises]) / training.stddev
    factor = math.sqrt(watch.squares / watch.coordinates) / training.stddev
    even = size_of_steps(factor * training.stddev, noises).probability >= share
    factors = iter(np.full(len(sizes), factor) if even else np.maximum(1.0, sizes))
    return replace(watch, taken=[step.divided(float(next(factors))) if step.finite else step for step in watch.taken])


def _repeated(watch: Watch, share: float) -> Iterator[Check]:
    """Yield a finding where two steps carry the same noise, or a part of it."""
    noises = watch.noises()
    marks = [tuple(float(value) for value in noise[:_FINGERPRINT]) for noise in noises if noise.any()]
    long = [mark for mark in marks if len(mark) > 1]
    equal = len(long) - len(set(long))
    again = max(equal, int(np.tril(same_directions(noises, noises), -1).any(axis=1).sum()))
    values = _values(np.concatenate([np.zeros(0), *noises])) if again else 0
    coarse = f", as all noise has {values} values only: it is rounded before it is added" if values < _COARSE else ""
    message = f"{again} of {watch.steps} steps carry noise that an earlier step carried{coarse or ': it is not fresh'}."
    if not again and noises:
        again, message = noise_kept(watch, share / 2)
    if not again:
        message = noise_shared(watch, share / 2)
        again = watch.steps if message else 0
    if again:
        yield Check(
            name="fresh noise",
            observed=again,
            declared=0,
            rule="DPA227",
            message=message,
        )


def _values(noise: Array) -> int:
    """Return how many values noise takes, up to a thousandth of its size."""
    return len(np.unique(np.round(noise / (math.sqrt(float((noise**2).mean())) or 1.0), 3)))


def _clipping(training: Training, watch: Watch, share: float) -> Iterator[Check]:
    """Yield the largest contribution: exact where sums without noise were reported, else the mean of those sampled."""
    norm = training.max_grad_norm
    rows = watch.rows()
    if rows is not None and rows.norms[~rows.present].any():
        return  # other records move these rows too, so that a row is no contribution of one record
    if rows is not None and rows.norms.any():
        largest = float(rows.norms.max())
        yield _clip(largest, norm, 1 + _ROUNDING, wrong=largest > norm * (1 + _ROUNDING), exactly=True)
        return
    present = watch.presence()
    if present is None or not present.any():
        return
    values = np.array(watch.projections)[present]
    mean, error = float(values.mean()), training.stddev / math.sqrt(values.size)
    limit = -float(ndtri(share)) * error
    above = 1 + (limit + float(ndtri(POWER)) * error) / norm
    yield _clip(mean, norm, above, wrong=mean > norm + limit, exactly=False)


def _clip(observed: float, norm: float, above: float, *, wrong: bool, exactly: bool) -> Check:
    """Return the check of one record's contribution."""
    kind = "A record contributed" if exactly else "Sampled canaries contributed on average"
    return Check(
        name="largest contribution",
        observed=observed,
        declared=norm,
        caught_above=above,
        rule="DPA220" if wrong else "",
        message=f"{kind} {observed:.6g}; gradients are declared to be clipped to {norm:.6g}." if wrong else "",
    )


def _sampling(training: Training, watch: Watch, share: float) -> Iterator[Check]:
    """Yield the test of the rate, and those of how batches were drawn."""
    if not watch.sampled:
        return
    rate, steps = training.sample_rate, len(watch.sampled)
    trials, taken = steps * watch.records, sum(len(batch) for batch in watch.sampled)
    observed = taken / trials
    wrong = (
        min(float(bdtr(taken, trials, rate)), float(bdtrc(taken - 1, trials, rate))) < share / 2
        if rate < 1
        else (taken != trials)
    )
    margin = (-float(ndtri(share / 2)) + float(ndtri(POWER))) * math.sqrt((1 - rate) / (rate * trials))
    yield Check(
        name="sampling rate",
        observed=observed,
        declared=rate,
        caught_below=max(0.0, 1 - margin),
        caught_above=1 + margin,
        rule="DPA326" if wrong else "",
        message=f"Records were sampled with rate {observed:.6g}; the accountant was told {rate:.6g}." if wrong else "",
    )
    if rate < 1 and steps > 1 and not wrong and not repeated_steps(watch):
        drawn = DrawnBatches.poisson(watch.sampled, records=watch.records, rate=rate)
        yield conform_batches([drawn], significance=share)


def _steps(training: Training, watch: Watch) -> Check:
    """Return the count of steps."""
    wrong = watch.steps != training.steps
    return Check(
        name="number of steps",
        observed=watch.steps,
        declared=training.steps,
        caught_below=1 - 1 / (training.steps + 1),
        caught_above=1 + 1 / training.steps,
        rule="DPA213" if wrong else "",
        message=f"The loop took {watch.steps} steps; {training.steps} are declared." if wrong else "",
    )
