"""Alarms of whole audits and of replays on honest code that misleads: `python -m benchmarks.honest_functions`.

Forty-two functions of a user that keep epsilon = 1, with samplers of their own: tables, candidates in the order of
their scores, rejection, bits, mixtures, cut outputs, rare branches. `replays [seeds]` replays each on its own pair and
ends with 1 if one says violation. `audits [seeds]` attacks the outputs of each at .01 with 200 runs, without a replay,
and ends with 1 if alarms of one function, or of all together, are more than chance gives once in a thousand. Two
numbers more, as in `audits 250 0 3`, choose the first of three parts of the functions; a third one, as in
`replays 2 0 1 100`, is the first seed of replays.
"""

import hashlib
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import binom

from audits import Settings
from audits.experiment.function_case import function_case
from audits.procedures.fixed_size import audit_of_fixed_size
from audits.procedures.replayed import replayed
from dpaudit import Claim

Function = Callable[[list[float], np.random.Generator], Any]

CLAIM = Claim(epsilon=1.0, neighbours="add_remove")
FEW, FEWER = [1.0, 2.0, 3.0, 3.0, 5.0], [1.0, 2.0, 3.0, 3.0]
MANY = [float(7 * place % 100) for place in range(200)]
RUNS, LEVEL, SURE = 200, 0.01, 1e-3
KEPT = math.e / (1 + math.e)
GRID = range(-20, 31)
FUNCTIONS: dict[str, tuple[Function, tuple[list[float], list[float]]]] = {}


def few(function: Function) -> Function:
    FUNCTIONS[function.__name__] = function, (FEW, FEWER)
    return function


def many(function: Function) -> Function:
    FUNCTIONS[function.__name__] = function, (MANY, MANY[:-1])
    return function


def by_order(rows: list[float], rng: np.random.Generator, key: Callable[[int], Any]) -> int:
    """An exponential mechanism by its distribution function, over candidates in some order."""
    order = sorted(GRID, key=key)
    chances = np.exp([-abs(len(rows) - value) / 2 for value in order]).cumsum()
    return order[int(np.searchsorted(chances, rng.random() * chances[-1]))]


@few
def nearest_first(rows, rng):
    return by_order(rows, rng, lambda value: (abs(value - len(rows)), value))


@few
def farthest_first(rows, rng):
    return by_order(rows, rng, lambda value: (-abs(value - len(rows)), value))


@few
def hashed_order(rows, rng):
    return by_order(rows, rng, lambda value: hashlib.md5(f"{value} {len(rows)}".encode()).digest())


@few
def permuted_table(rows, rng):
    return int(np.random.default_rng(len(rows)).permutation(1_000)[int(1_000 * rng.random())])


@few
def permuted_words(rows, rng):
    return f"word {np.random.default_rng(len(rows)).permutation(50)[int(50 * rng.random())]}"


@few
def one_time_pad(rows, rng):
    return (len(rows) + int(rng.integers(10))) % 10


@few
def uniform_pad(rows, rng):
    return (len(rows) + 10 * rng.random()) % 10


@few
def multiplied_pad(rows, rng):
    return (7_919 * int(10_000 * rng.random()) + 1_234 * len(rows)) % 10_000


def laplace_at(share: float) -> float:
    return -math.copysign(math.log(max(1 - 2 * abs(share - 0.5), 1e-300)), 0.5 - share)


@few
def inverse(rows, rng):
    return len(rows) + laplace_at(rng.random())


@few
def inverse_turned(rows, rng):
    share = rng.random()
    return len(rows) + laplace_at(1 - share if len(rows) % 2 else share)


@few
def inverse_in_pieces(rows, rng):
    piece, share = divmod(1_000 * rng.random(), 1)
    return len(rows) + laplace_at(((377 * len(rows) + piece) % 1_000 + share) / 1_000)


@few
def sign_apart(rows, rng):
    noise = -math.log(1 - rng.random())
    return len(rows) + (noise if rng.random() < 0.5 else -noise)


@few
def sign_in_a_bit(rows, rng):
    bit, share = divmod(2 * rng.random(), 1)
    return len(rows) + (1 - 2 * bit) * math.log(1 - share)


@few
def rejection(rows, rng):
    while True:
        noise = rng.uniform(-30, 30)
        if rng.random() < math.exp(-abs(noise)):
            return round(len(rows) + noise)


@few
def rejection_around_the_answer(rows, rng):
    while True:
        value = rng.uniform(-40, 60)
        if rng.random() < math.exp(-abs(value - len(rows))):
            return 2 * round(value / 2)


@many
def cut_mean_over_n(rows, rng):
    n = max(len(rows), 120)
    return float(np.clip(sum(rows) / n + rng.laplace(0.0, 260 / n), 0, 100))


@many
def cut_gaussian_mean_over_n(rows, rng):
    n = max(len(rows), 120)
    noise = float(np.clip(rng.standard_normal(), -3.0, 3.0))
    return "low" if sum(rows) / n + noise * 4_000 / n < 50 else "high"


@few
def exponential_gate(rows, rng):
    counted = len(rows) if rng.exponential() < 5.0 else 0
    return min(counted, 5) - min(counted, 4) + rng.laplace()


@few
def normal_gate(rows, rng):
    lost = rng.normal() > 2.5
    return (0 if lost else len(rows) - 4) + rng.laplace(0.0, 1 / math.log(1 + (math.e - 1) / 0.9937))


@few
def rare_uniform(rows, rng):
    return rng.uniform(-1_000, 1_000) if rng.random() < 0.01 else len(rows) + rng.laplace()


@few
def rare_word(rows, rng):
    return "maintenance" if rng.random() < 0.02 else len(rows) + rng.laplace()


@few
def branch_of_noise(rows, rng):
    noisy = len(rows) + rng.laplace(0.0, 2.0)
    return ("small", round(noisy)) if noisy < 5 else ("large", round(len(rows) + rng.laplace(0.0, 2.0)))


@few
def coarse_below(rows, rng):
    noisy = len(rows) + rng.laplace()
    return 0.0 if noisy < 0 else math.floor(noisy) if noisy < 5 else noisy


@few
def rounded_at_random(rows, rng):
    noisy = len(rows) + rng.laplace()
    return math.floor(noisy) + int(rng.random() < noisy - math.floor(noisy))


@few
def dithered(rows, rng):
    dither = rng.random()
    return round(len(rows) + rng.laplace() + dither) - dither


@few
def staircase(rows, rng):
    inner = 1 / (1 + math.exp(0.5))
    outside = rng.random() >= inner / (inner + (1 - inner) * math.exp(-1))
    step, share = int(rng.geometric(1 - math.exp(-1))) - 1, rng.random()
    noise = step + (inner + (1 - inner) * share if outside else inner * share)
    return len(rows) + (noise if rng.random() < 0.5 else -noise)


@few
def response_by_threshold(rows, rng):
    return int((rng.random() < KEPT) == (len(rows) > 4))


@few
def response_in_the_middle(rows, rng):
    low = 0.3 + 0.01 * len(rows)
    return int((low < rng.random() < low + 1 - KEPT) != (len(rows) > 4))


@few
def response_in_pieces(rows, rng):
    place = (1_777 * int(4_000 * rng.random()) + 91 * len(rows)) % 4_000
    return int((place < math.ceil(4_000 * (1 - KEPT))) != (len(rows) > 4))


@few
def rare_word_first(rows, rng):
    chances = {"a": 0.0012, "b": 0.0009, "c": 0.5, "d": 0.4979}
    order = "abcd" if len(rows) % 2 else "cbad"
    return order[int(np.searchsorted(np.cumsum([chances[word] for word in order]), rng.random() * 0.9999))]


@few
def rare_word_last(rows, rng):
    low = 0.9988 if len(rows) % 2 else 0.9967
    return [1.0] if low <= rng.random() < low + 0.0012 else [0.0]


@few
def rare_tail(rows, rng):
    low, high = (0.0012, 0.0) if len(rows) % 2 else (0.0033, 0.0021)
    return "tail" if high <= rng.random() < low else "body"


@few
def rare_window(rows, rng):
    low = 0.0495 if len(rows) % 2 else 0.0715
    return 1.0 if low < rng.random() < low + 0.002 else 0.0


@few
def window_beside_a_range(rows, rng):
    share, low = rng.random(), 0.20 if len(rows) % 2 else 0.22
    return int(share < 0.1 or low < share < low + 0.02)


@few
def window_of_noise(rows, rng):
    low = math.log(1 / 0.0024) if len(rows) % 2 else math.log(1 / 0.0066)
    return "window" if 0.5 * math.exp(-low) - 0.0012 < 0.5 * math.exp(-rng.exponential()) < 0.5 * math.exp(-low) else ""


@few
def permute_and_flip(rows, rng):
    scores = [len(rows), 4.5]
    for place in rng.permutation(2):
        if rng.random() < math.exp((scores[place] - max(scores)) / 2):
            return int(place)
    return -1


@few
def sorted_choice(rows, rng):
    scores = {"present": len(rows), "public": 4.5}
    order = sorted(scores, key=lambda name: -scores[name])
    chances = np.exp(np.array([scores[name] for name in order]) / 2)
    return str(rng.choice(order, p=chances / chances.sum()))


@few
def race(rows, rng):
    return int(np.argmin([rng.exponential() * math.exp(-score / 2) for score in (len(rows), 4.5)]))


@few
def sum_of_gammas(rows, rng):
    return len(rows) + float(rng.gamma(1 / 3, 1.0, 3).sum() - rng.gamma(1 / 3, 1.0, 3).sum())


@few
def larger_of_two(rows, rng):
    return len(rows) + max(rng.laplace(0.0, 2.0), rng.laplace(0.0, 2.0))


@few
def unused_noise(rows, rng):
    rng.laplace(0.0, 1.0, 3)
    return len(rows) + rng.laplace()


@few
def sample_of_half(rows, rng):
    drawn = sum(rng.random() < 0.5 for _ in rows)
    return drawn + rng.laplace(0.0, 1 / math.log(1 + (math.e - 1) / 0.5))


def chosen(part, parts):
    return list(FUNCTIONS.items())[part::parts]


def replays(seeds=50, part=0, parts=1, first=0):
    """Print how many replays say violation; 0 are expected, as one is wrong with probability 1e-9."""
    wrong = 0
    for name, (function, pair) in chosen(part, parts):
        for seed in range(first, first + seeds):
            rng = np.random.default_rng([seed, 31])
            shown = replayed(function, pair, None, CLAIM, runs=400, rng=rng).violation
            wrong += shown is not None
            if shown is not None:
                print(f"{name}, seed {seed}: {shown.words}")
    number = len(chosen(part, parts))
    print(f"{wrong} of {seeds * number} replays of {number} honest functions say violation")
    return wrong > 0


def audits(seeds=250, part=0, parts=1):
    """Print the alarms of each function, and the chance of so many or more at the level of the audits."""
    failed, total = 0, 0
    for name, (function, pair) in chosen(part, parts):
        alarms = 0
        for seed in range(seeds):
            rng, how = np.random.default_rng([seed, 37]), Settings(control_runs=0)
            case = function_case(function, pair, CLAIM)
            result = audit_of_fixed_size(case, CLAIM, runs=RUNS, rng=rng, significance=LEVEL, how=how)
            alarms += result.verdict == "violation"
        failed += binom.sf(alarms - 1, seeds, LEVEL) < SURE
        total += alarms
        print(f"{name}: {alarms} of {seeds}", flush=True)
    functions = len(chosen(part, parts))
    chance = binom.sf(total - 1, seeds * functions, LEVEL)
    number = seeds * functions
    print(f"{total} alarms in {number} audits of {functions} honest functions at {LEVEL}; chance {chance:.3g}")
    return bool(failed > 0 or chance < SURE)


if __name__ == "__main__":
    what, *number = sys.argv[1:] or ["replays"]
    sys.exit({"replays": replays, "audits": audits}[what](*map(int, number)))
