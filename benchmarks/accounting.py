"""Our bracket beside dp-accounting's on the accounting benchmarks: `python benchmarks/accounting.py`."""

import logging
import time

import numpy as np

from dpaudit.engines import GAUSSIAN, TILTED
from dpaudit.model.losses import Composition, GaussianLoss, LaplaceLoss, SampledGaussianLoss

logging.disable(logging.WARNING)


def cases():
    rng = np.random.default_rng(0)
    gaussians = [GaussianLoss(mu=1 / x) for x in rng.uniform(5, 20, 50)]
    laplaces = [LaplaceLoss(shift=1 / x) for x in rng.uniform(5, 20, 50)]
    for times in (1, 100, 10_000, 1_000_000):
        yield f"(a) Gaussian(1) x {times}", Composition.of(GaussianLoss(mu=1)) * times, 1e-5
    for delta in (1e-5, 1e-12, 1e-14, 1e-30):
        yield f"(b) Laplace(10) x 1000 at {delta:g}", Composition.of(LaplaceLoss(shift=0.1)) * 1000, delta
    yield "(c) 50 Gaussian + 50 Laplace", Composition.of(*gaussians, *laplaces), 1e-5
    for order in ("remove", "add"):
        loss = SampledGaussianLoss(mu=1, rate=0.01, order=order)
        yield f"(d) Poisson 0.01, sigma 1, x 10^4, {order}", Composition.of(loss) * 10_000, 1e-5
    five = [LaplaceLoss(shift=s) for s in (0.0006, 0.0011, 0.0018, 0.0026, 0.0035)]
    yield "(e) 10^6 events of five kinds", Composition.of(*five) * 200_000, 1e-5
    many = [LaplaceLoss(shift=float(s)) for s in rng.uniform(0.0005, 0.004, 2000)]
    yield "(f) 10^6 events of 2000 kinds", Composition.of(*many) * 500, 1e-5


def peer(composition, delta):
    """Return dp-accounting's pessimistic epsilon, where it answers in reasonable time."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    if len(composition.parts) > 200 or composition.events * sum(n > 1000 for _, n in composition.parts) > 20_000:
        return float("nan")
    found = None
    for loss, times in composition.parts:
        width = {"value_discretization_interval": 1e-3}
        match loss:
            case GaussianLoss(mu=mu):
                if mu * mu * times > 200:
                    return float("nan")
                part = pld.from_gaussian_mechanism(1.0, sensitivity=mu, **width)
            case LaplaceLoss(shift=shift):
                part = pld.from_laplace_mechanism(1.0, sensitivity=shift, **width)
            case SampledGaussianLoss(mu=mu, rate=rate):
                part = pld.from_gaussian_mechanism(1.0, sensitivity=mu, sampling_prob=rate, **width)
        part = part.self_compose(times)
        found = part if found is None else found.compose(part)
    return found.get_epsilon_for_delta(delta)


def main():
    print(f"{'case':42} {'lower':>17} {'upper':>17} {'width':>8} {'s':>6}   {'dp-accounting':>14} {'s':>6}")
    for name, composition, delta in cases():
        engine = GAUSSIAN if GAUSSIAN.covers(composition) else TILTED
        started = time.process_time()
        ours = engine.epsilon(composition, delta)
        middle = time.process_time()
        theirs = peer(composition, delta)
        ended = time.process_time()
        width = (ours.upper - ours.lower) / ours.upper
        print(
            f"{name:42} {ours.lower:17.10f} {ours.upper:17.10f} {width:8.1e} {middle - started:6.2f}   "
            f"{theirs:14.8f} {ended - middle:6.2f}"
        )


if __name__ == "__main__":
    main()
