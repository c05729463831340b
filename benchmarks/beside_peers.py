"""Accounting beside other packages, on the same cases in one run: `python -m benchmarks.beside_peers [CASE ...]`.

Prints rows of a Markdown table: both ends, width, processor time, and on which side of the truth each end lies, the
truth being our bracket from both sides. What is not installed is left out. Run it with OMP_NUM_THREADS=1.
"""

import contextlib
import functools
import importlib.metadata
import io
import math
import signal
import sys
import time
import warnings
from dataclasses import replace

from dpaudit import Allocate, Release, Repeat, Sequential, Subsample, bracket_epsilon, fold
from dpaudit.engines import BY_EFFORT
from mechanisms import Gaussian, Laplace

RELATION = "add_remove"
DELTA = 1e-5
LONGEST = 25.0
MIXED = [5 + 15 * i / 49 for i in range(50)]


def release(noise):
    return Release(label="answer", mechanism=noise)


def gaussian(sigma):
    return release(Gaussian(stddev=sigma, l2_sensitivity=1.0, neighbours=RELATION))


def laplace(scale):
    return release(Laplace(scale=scale, l1_sensitivity=1.0, neighbours=RELATION))


def ours(tree, effort="default"):
    """Return our bracket by an effort; that one pair moves all answers at once is assumed, as the others do."""
    form = fold(tree, RELATION)
    together = form if len(form.upper) > 1 or form.lower == form.upper else replace(form, lower=form.upper)
    found = bracket_epsilon(together, DELTA, BY_EFFORT[effort])
    return found.lower, found.upper


def dp_pld(build, interval):
    """Return both estimates of dp-accounting."""
    ends = [build(pessimistic, interval).get_epsilon_for_delta(DELTA) for pessimistic in (False, True)]
    return ends[0], ends[1]


def dp_repeated(law, size, times, rate=1.0):
    from dp_accounting.pld import privacy_loss_distribution as pld

    build = getattr(pld, f"from_{law}_mechanism")
    return lambda pessimistic, h: build(
        size, sampling_prob=rate, pessimistic_estimate=pessimistic, value_discretization_interval=h
    ).self_compose(times)


def dp_mixed(pessimistic, h):
    from dp_accounting.pld import privacy_loss_distribution as pld

    options = {"pessimistic_estimate": pessimistic, "value_discretization_interval": h}
    parts = [pld.from_gaussian_mechanism(size, **options) for size in MIXED]
    parts += [pld.from_laplace_mechanism(size, **options) for size in MIXED]
    return functools.reduce(lambda whole, part: whole.compose(part), parts)


def prv(law, settings, times, error):
    import prv_accountant

    accountant = prv_accountant.PRVAccountant(
        prvs=[getattr(prv_accountant, law)(**settings)],
        max_self_compositions=[times],
        eps_error=error,
        delta_error=DELTA / 1000,
    )
    lower, _, upper = accountant.compute_epsilon(DELTA, [times])
    return lower, upper


def pld_allocation(steps, epochs, accuracy):
    from PLD_accounting import gaussian_allocation_epsilon_range

    upper, lower = gaussian_allocation_epsilon_range(
        delta=DELTA, sigma=1.0, num_steps=steps, num_epochs=epochs, epsilon_accuracy=accuracy
    )
    return lower, upper


def allocation_bound(name, steps, epochs):
    import random_allocation
    from random_allocation.comparisons.structs import PrivacyParams, SchemeConfig

    bound = getattr(random_allocation, f"allocation_epsilon_{name}")
    params = PrivacyParams(sigma=1.0, num_steps=steps, num_selected=1, num_epochs=epochs, delta=DELTA)
    return 0.0, bound(params, SchemeConfig())


def allocated(steps, epochs):
    return Allocate(part=gaussian(1.0), steps=steps, epochs=epochs)


def pld_rows(law, size, times, rate=1.0):
    return {
        "dp-accounting PLD, 1e-4": lambda: dp_pld(dp_repeated(law, size, times, rate), 1e-4),
        "dp-accounting PLD, 1e-3": lambda: dp_pld(dp_repeated(law, size, times, rate), 1e-3),
    }


def prv_rows(law, settings, times):
    return {
        "prv-accountant, .1": lambda: prv(law, settings, times, 0.1),
        "prv-accountant, .01": lambda: prv(law, settings, times, 0.01),
    }


def sampled_rows(rate, sigma, times):
    settings = {"noise_multiplier": sigma, "sampling_probability": rate}
    return pld_rows("gaussian", sigma, times, rate) | prv_rows("PoissonSubsampledGaussianMechanism", settings, times)


def allocation_rows(steps, epochs):
    return {
        "PLD-accounting, .1": lambda: pld_allocation(steps, epochs, 0.1),
        "PLD-accounting, .01": lambda: pld_allocation(steps, epochs, 0.01),
        "random-allocation, decomposition": lambda: allocation_bound("decomposition", steps, epochs),
        "random-allocation, RDP-DCO": lambda: allocation_bound("RDP_DCO", steps, epochs),
    }


def sample(part, rate):
    return Subsample(part=part, rate=rate)


CASES = {
    "poisson": (
        "10^4 Poisson steps, rate .01, sigma 1",
        lambda: Repeat(part=sample(gaussian(1.0), 0.01), times=10_000),
        lambda: sampled_rows(0.01, 1.0, 10_000),
    ),
    "poisson-few": (
        "100 Poisson steps, rate .1, sigma 2",
        lambda: Repeat(part=sample(gaussian(2.0), 0.1), times=100),
        lambda: sampled_rows(0.1, 2.0, 100),
    ),
    "laplace": (
        "1,000 Laplace, scale 10",
        lambda: Repeat(part=laplace(10.0), times=1000),
        lambda: pld_rows("laplace", 10.0, 1000) | prv_rows("LaplaceMechanism", {"mu": 0.1}, 1000),
    ),
    "sampled-laplace": (
        "100 Poisson steps, rate .1, Laplace 1",
        lambda: Repeat(part=sample(laplace(1.0), 0.1), times=100),
        lambda: pld_rows("laplace", 1.0, 100, 0.1),
    ),
    "mixed": (
        "50 Gaussian and 50 Laplace, 5 to 20",
        lambda: Sequential(parts=tuple(map(gaussian, MIXED)) + tuple(map(laplace, MIXED))),
        lambda: {"dp-accounting PLD, 1e-4": lambda: dp_pld(dp_mixed, 1e-4)},
    ),
    "allocation-10": (
        "1 of 10 secret steps, sigma 1",
        lambda: allocated(10, 1),
        lambda: allocation_rows(10, 1),
    ),
    "allocation-100": (
        "1 of 100 secret steps, sigma 1",
        lambda: allocated(100, 1),
        lambda: allocation_rows(100, 1),
    ),
    "allocation-epochs": (
        "1 of 100 secret steps in each of 10 epochs, sigma 1",
        lambda: allocated(100, 10),
        lambda: allocation_rows(100, 10),
    ),
}


class OutOfTime(BaseException):
    """Raised in a call that takes too long; no package that catches its own errors catches it."""


def timed(call):
    """Return both ends and processor seconds, or the name of what stopped it."""

    def stop(_number, _frame):
        raise OutOfTime

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, LONGEST, 1.0)
    started = time.process_time()
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            ends = call()
        return ends, time.process_time() - started
    except ImportError:
        return "not installed", 0.0
    except (Exception, OutOfTime) as error:  # another package may end in anything
        return type(error).__name__, time.process_time() - started
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def side(ends, truth):
    """Return what contradicts the truth: an end on its wrong side."""
    wrong = [name for name, bad in (("upper", ends[1] < truth[0]), ("lower", ends[0] > truth[1])) if bad]
    return f"{' and '.join(wrong)} on the wrong side" if wrong else "right"


def row(case, name, found, seconds, truth):
    if isinstance(found, str):
        return f"| {case} | {name} | {found} | | {seconds:.2f} | |"
    lower, upper = found
    width = (upper - lower) / upper if lower > 0 and upper < math.inf else math.nan
    ends = f"[{lower:.7g}, {upper:.7g}]" if lower > 0 else f"at most {upper:.7g}"
    shown = "" if math.isnan(width) else f"{width:.1e}"
    return f"| {case} | {name} | {ends} | {shown} | {seconds:.2f} | {side(found, truth)} |"


def main(wanted):
    names = ("dp-accounting", "prv-accountant", "PLD-accounting", "random-allocation", "numpy", "scipy")
    for name in names:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            print(f"{name} {importlib.metadata.version(name)}")
    print("| case | package | epsilon at delta 1e-5 | width | s | against our bracket |\n|---|---|---|---|---|---|")
    timed(lambda: ours(gaussian(1.0)))
    for name in wanted or CASES:
        case, tree, peers = CASES[name]
        truth, seconds = timed(lambda tree=tree: ours(tree()))
        print(row(case, "dpaudit", truth, seconds, truth), flush=True)
        print(row(case, "dpaudit, quick", *timed(lambda tree=tree: ours(tree(), "quick")), truth), flush=True)
        for peer, call in peers().items():
            print(row(case, peer, *timed(call), truth), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
