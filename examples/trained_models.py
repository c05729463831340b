"""What membership attacks show of trained models, beside what is certified.

A softmax classifier learns the party identification (seven points) of respondents of the American National Election
Study of 1996, from their answers. It is trained by DP-SGD for epsilon 1, 4 and 8 at delta 1e-5, and without noise.

    python examples/trained_models.py                    # the table; about a minute
    python examples/trained_models.py -o rows.csv        # the same as CSV
    python examples/trained_models.py --digits           # scikit-learn's digits, where it is installed
    python examples/trained_models.py --quarter          # how often a quarter of the declared noise is accused
"""

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from importlib import import_module
from math import inf, nan
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy import stats

from algorithms import DpSgd
from algorithms.problems.tables import bundled_table, read_columns
from audits import Models, audit_model, audit_record
from audits.bounds import PrivateTradeOff, area_under_roc, one_run_gaussian_bound
from audits.scores import Guesses
from audits.scores.cuts import Cuts, Scores
from audits.training.membership import check_run, right_guesses
from audits.training.model_audit import ATTACKS, scorer
from audits.training.softmax import SoftmaxTraining
from audits.training.training_audit import judge
from dpaudit import Claim, certify, training_curve
from dpaudit.model.mechanism import Array
from dpaudit.training import Planted, Training, Watch, plant
from dpaudit.wording.numerals import at_least, at_most

Data: TypeAlias = tuple[Array, Array, int]
"""Features (n, columns), labels (n,), and the number of classes."""

DELTA, RATE, STEPS, RECORDS, FEW = 1e-5, 0.25, 60, 400, 150
EPSILONS = (1.0, 4.0, 8.0, None)
ANSWERS = ("TVnews", "selfLR", "ClinLR", "DoleLR", "educ", "income")
AGES = np.arange(20, 90, 5)
SEED = 1996
NAMES = {"online": "LiRA, online", "offline": "LiRA, offline", "relative": "RMIA", "loss": "loss"}
CANARIES, GUESSES, MODELS, SHADOWS, TARGETS, SIGNIFICANCE = 1000, 100, 1000, 64, 32, 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What one attack showed of training at one claim; `epsilon` is what is certified, infinite without noise.

    `rate` is the true positive rate at false positive rate .01. Intervals: Student's 95 % over models, approximate, for
    attacks on many records; exact limits at .01 for one record; none for gradients, whose scores share a run.
    `gaussian_lower` assumes a Gaussian trade-off and decides nothing.
    """

    claimed: str
    epsilon: float
    noise: float
    accuracy: float
    attack: str
    area: float
    area_least: float
    area_most: float
    rate: float
    rate_least: float
    rate_most: float
    epsilon_lower: float
    gaussian_lower: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What is declared of one training: claim, certified epsilon, noise and trade-off."""

    claimed: str
    claim: Claim
    epsilon: float
    noise: float
    trade_off: PrivateTradeOff | None


def respondents() -> Data:
    """Return answers as unit vectors, party identification, and the number of parties; in an order drawn once."""
    table = read_columns(bundled_table("anes96", "anes96.csv"), (*ANSWERS, "age", "PID"), delimiter="\t")
    answers = [table[name][:, None] == np.unique(table[name]) for name in ANSWERS]
    answers.append(np.digitize(table["age"], AGES)[:, None] == np.arange(len(AGES) + 1))
    features = np.concatenate(answers, axis=1).astype(float)
    return _shuffled(features, table["PID"].astype(np.int64), 7)


def digits() -> Data:
    """Return scikit-learn's digits, 8 x 8 pixels as unit vectors."""
    try:
        library = import_module("sklearn.datasets")
    except ImportError:
        print("The digits come with scikit-learn, which is not installed: pip install scikit-learn.", file=sys.stderr)
        raise SystemExit(2) from None
    features, labels = library.load_digits(return_X_y=True)
    return _shuffled(features, labels, 10)


def _shuffled(features: Array, labels: Array, classes: int) -> Data:
    order = np.random.default_rng(SEED).permutation(len(labels))
    return (features / np.linalg.norm(features, axis=1, keepdims=True))[order], labels[order], classes


def declared(epsilon: float | None) -> Declared:
    """Return the least noise that certifies `epsilon`, and what it delivers; no noise and a claim of 8 for None."""
    if epsilon is None:
        claim = Claim(epsilon=8.0, delta=DELTA, neighbours="add_remove")
        return Declared(claimed="no noise", claim=claim, epsilon=inf, noise=0.0, trade_off=None)
    config = DpSgd(epsilon=epsilon, delta=DELTA, sample_rate=RATE, steps=STEPS, calibration="tight")
    noise = config.record().history[0][0]
    certificate = certify(config.declaration(), config.claim())
    return Declared(
        claimed=f"{epsilon:g}",
        claim=config.claim(),
        epsilon=certificate.tight.epsilon.upper,
        noise=noise,
        trade_off=PrivateTradeOff(points=training_curve(training(noise))),
    )


def training(noise: float) -> Training:
    """Return the declaration of a run."""
    return Training(noise_multiplier=noise, max_grad_norm=1.0, sample_rate=RATE, steps=STEPS, records=RECORDS)


def softmax(data: Data, noise: float, records: int) -> SoftmaxTraining:
    """Return training on the first `records` records."""
    features, labels, classes = data
    return SoftmaxTraining(
        features=features,
        labels=labels,
        classes=classes,
        records=records,
        noise_multiplier=noise,
        sample_rate=RATE,
        steps=STEPS,
    )


def rows(data: Data, run: Declared, rng: np.random.Generator) -> Iterator[Row]:
    """Yield one row for each attack."""
    many = softmax(data, run.noise, RECORDS)
    half = rng.random((20, RECORDS)) < 0.5
    accuracy = float(many.accuracy(many.weights(half, rng)).mean())
    shared: dict[str, Any] = {"claimed": run.claimed, "epsilon": run.epsilon, "noise": run.noise, "accuracy": accuracy}
    audit = audit_model(
        Models(losses=many.losses, records=RECORDS, shadows=SHADOWS),
        run.claim,
        rng=rng,
        declared=run.trade_off,
        rule=Guesses(number=GUESSES),
        significance=SIGNIFICANCE,
    )
    averages = dict(_averages(many, rng))
    for attack in audit.attacks:
        bounds = {bound.name: bound.epsilon for bound in attack.scores.bounds}
        yield Row(
            **shared,
            attack=NAMES[attack.name],
            **averages[attack.name],
            epsilon_lower=attack.scores.epsilon_lower,
            gaussian_lower=bounds["one_run_gaussian"],
        )
    yield _record(data, run, shared, rng)
    yield _gradients(data, run, shared, rng)


def _averages(many: SoftmaxTraining, rng: np.random.Generator) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each attack with its mean area and rate over `TARGETS` models, which share the shadows, and intervals."""
    included = rng.random((TARGETS + SHADOWS, RECORDS)) < 0.5
    confidence = np.exp(-many.losses(included, rng))
    for name in ATTACKS:
        score = scorer(name, confidence[TARGETS:], included[TARGETS:])
        told = zip(map(score, confidence[:TARGETS]), included[:TARGETS], strict=True)
        pairs = [(scores[inside], scores[~inside]) for scores, inside in told]
        areas = [area_under_roc(*pair, SIGNIFICANCE).value for pair in pairs]
        yield name, _over_models("area", areas) | _over_models("rate", [_true_positives(*pair) for pair in pairs])


def _over_models(name: str, values: list[float]) -> dict[str, Any]:
    """Return the fields of a mean over models, and Student's 95 % interval of it."""
    mean = float(np.mean(values))
    least, most = stats.t.interval(0.95, len(values) - 1, loc=mean, scale=stats.sem(values))
    return _interval(name, mean, float(least), float(most))


def _true_positives(ins: Array, outs: Array) -> float:
    """Return the largest true positive rate of a threshold with a false positive rate of at most .01."""
    cuts = Cuts.of(Scores.of(ins, outs))
    return float(cuts.true_positives[cuts.false_positives <= 0.01 * cuts.outs].max(initial=0) / cuts.ins)


def _interval(name: str, measured: float, least: float | None = None, most: float | None = None) -> dict[str, Any]:
    """Return the fields of a number and its interval."""
    return {
        name: measured,
        f"{name}_least": nan if least is None else least,
        f"{name}_most": nan if most is None else most,
    }


def _record(data: Data, run: Declared, shared: dict[str, Any], rng: np.random.Generator) -> Row:
    """Return what the loss of one mislabelled record shows over many models."""
    features, labels, classes = data
    wrong = labels.copy()
    wrong[0] = (labels[0] + classes // 2) % classes
    few = softmax((features[:FEW], wrong[:FEW], classes), run.noise, FEW)
    scores = audit_record(
        few.losses, FEW, 0, run.claim, rng=rng, models=MODELS, declared=run.trade_off, significance=SIGNIFICANCE
    )
    rate = scores.rates[1]
    return Row(
        **shared,
        attack="one record",
        **_interval("area", scores.auroc.value, scores.auroc.lower, scores.auroc.upper),
        **_interval("rate", rate.measured, rate.lower, rate.upper),
        epsilon_lower=scores.epsilon_lower,
        gaussian_lower=next(bound.epsilon for bound in scores.bounds if bound.name == "joint_gaussian"),
    )


def _gradients(data: Data, run: Declared, shared: dict[str, Any], rng: np.random.Generator) -> Row:
    """Return what gradient canaries in feature columns of their own show of one run."""
    watch, planted = watched(data, run.noise, rng)
    scores, inside = watch.scores(), planted.included
    noise = run.noise or declared(run.claim.epsilon).noise
    check = check_run(scores, inside, training(noise), run.claim, SIGNIFICANCE, rng)
    counted = right_guesses(scores, inside, training(noise), run.claim, SIGNIFICANCE)
    gaussian = one_run_gaussian_bound(len(inside), *counted, run.claim.delta, SIGNIFICANCE / 2)
    pair = scores[inside], scores[~inside]
    return Row(
        **shared,
        attack="gradient canaries",
        **_interval("area", area_under_roc(*pair, SIGNIFICANCE).value),
        **_interval("rate", _true_positives(*pair)),
        epsilon_lower=check.epsilon_lower,
        gaussian_lower=gaussian.epsilon,
    )


def watched(data: Data, noise: float, rng: np.random.Generator) -> tuple[Watch, Planted]:
    """Return one watched run with canaries among the records."""
    features, labels, classes = data
    planted = plant(features[:RECORDS], labels[:RECORDS], outputs=classes, canaries=CANARIES, rng=rng)
    watch = Watch(records=planted.records, slots=planted.slots)
    softmax(data, noise, RECORDS).watched(planted.features, planted.labels, watch, rng)
    return watch, planted


def accusations(data: Data, factor: float, runs: int, rng: np.random.Generator) -> Counter[str]:
    """Return how many of so many runs at epsilon 4, with `factor` times the declared noise, each check accuses."""
    run = declared(4.0)
    counts: Counter[str] = Counter()
    for _ in range(runs):
        watch, planted = watched(data, factor * run.noise, rng)
        audit = judge(watch, planted, training=training(run.noise), claim=run.claim, rng=rng, significance=SIGNIFICANCE)
        counts.update(check.name for check in audit.checks if check.verdict == "violation")
        counts["audit"] += audit.verdict == "violation"
    return counts


def read(path: Path) -> tuple[Row, ...]:
    """Return rows that were written as CSV."""
    with path.open(newline="", encoding="utf-8") as file:
        lines: list[dict[str, Any]] = list(csv.DictReader(file))
    for line in lines:
        line.update({name: float(text) for name, text in line.items() if name not in ("claimed", "attack")})
    return tuple(Row(**line) for line in lines)


def table(found: Sequence[Row]) -> str:
    """Return the rows as a Markdown table; bounds are rounded down."""
    lines = [
        "| certified epsilon | noise | accuracy | attack | AUROC | true positives at 1 % | epsilon at least |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in found:
        certified = "none" if row.epsilon == inf else at_most(row.epsilon, 4)
        cells = (
            certified,
            at_most(row.noise, 4),
            f"{row.accuracy:.2f}",
            row.attack,
            f"{row.area:.2f}{_limits(row.area_least, row.area_most)}",
            f"{row.rate:.3f}{_limits(row.rate_least, row.rate_most)}",
            at_least(row.epsilon_lower, 3),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _limits(least: float, most: float) -> str:
    return "" if least != least else f" ({max(0.0, least):.3f} to {most:.3f})"


def written(found: Sequence[Row], path: Path) -> None:
    """Write rows as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(field.name for field in fields(Row))
        writer.writerows(
            [f"{value:.6g}" if isinstance(value, float) else value for value in astuple(row)] for row in found
        )


def main(arguments: Sequence[str]) -> None:
    """Print the table, or how often checks accuse; write CSV."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", metavar="FILE", type=Path, help="write the rows as CSV")
    parser.add_argument("--digits", action="store_true", help="scikit-learn's digits in place of the survey")
    parser.add_argument("--quarter", action="store_true", help="how often a quarter of the noise is accused")
    chosen = parser.parse_args(arguments)
    data = digits() if chosen.digits else respondents()
    rng = np.random.default_rng(SEED)
    if chosen.quarter:
        for factor in (0.25, 1.0):
            print(f"{factor:g} of the noise, 10 runs: {dict(accusations(data, factor, 10, rng))}")
        return
    found = [row for epsilon in EPSILONS for row in rows(data, declared(epsilon), rng.spawn(1)[0])]
    print(table(found))
    if chosen.o is not None:
        written(found, chosen.o)


if __name__ == "__main__":
    main(sys.argv[1:])
