"""Processor time of brackets and certificates beside dp-accounting's: `python benchmarks/accounting_speed.py`.

Medians of five. dp-accounting answers at its default interval, from both sides. Run it with OMP_NUM_THREADS=1.
"""

import logging
import statistics
import time

from dpaudit import Claim, Release, Repeat, Subsample, bracket_epsilon, certify, fold
from mechanisms import Gaussian, Laplace

logging.disable(logging.WARNING)
NEIGHBOURS = "add_remove"


def processor_time(call, runs=5):
    times = []
    for _ in range(runs):
        started = time.process_time()
        result = call()
        times.append(time.process_time() - started)
    return statistics.median(times), result


def sampled():
    noise = Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours=NEIGHBOURS)
    step = Subsample(part=Release(label="gradient", mechanism=noise), rate=0.01, scheme="poisson")
    return Repeat(part=step, times=10_000)


def laplace():
    noise = Laplace(scale=10.0, l1_sensitivity=1.0, neighbours=NEIGHBOURS)
    return Repeat(part=Release(label="count", mechanism=noise), times=1000)


def peer(name):
    from dp_accounting.pld import privacy_loss_distribution as pld

    found = []
    for pessimistic in (True, False):
        if name == "sampled":
            one = pld.from_gaussian_mechanism(1.0, sampling_prob=0.01, pessimistic_estimate=pessimistic)
            found.append(one.self_compose(10_000).get_epsilon_for_delta(1e-5))
        else:
            one = pld.from_laplace_mechanism(10.0, pessimistic_estimate=pessimistic)
            found.append(one.self_compose(1000).get_epsilon_for_delta(1e-5))
    return tuple(found)


def main():
    for name, tree, claimed in (("sampled", sampled(), 7.0), ("laplace", laplace(), 20.0)):
        form = fold(tree, NEIGHBOURS)
        claim = Claim(epsilon=claimed, delta=1e-5, neighbours=NEIGHBOURS)
        theirs, answer = processor_time(lambda name=name: peer(name))
        bracket, found = processor_time(lambda form=form: bracket_epsilon(form, 1e-5))
        whole, _ = processor_time(lambda tree=tree, claim=claim: certify(tree, claim))
        width = (found.upper - found.lower) / found.upper
        print(f"{name}: [{found.lower:.7f}, {found.upper:.7f}], width {width:.1e}; dp-accounting {answer}")
        print(f"  dp-accounting {theirs:.3f} s; bracket {bracket:.3f} s ({bracket / theirs:.2f} of it)")
        print(f"  certificate {whole:.3f} s ({whole / bracket:.2f} brackets)")


if __name__ == "__main__":
    main()
