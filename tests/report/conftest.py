"""Reports built by hand: one for each story that a report has to tell."""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.model.audit_result import AuditVerdict, Counts, LowerBound, Power
from dpaudit.model.bracket import Bracket
from dpaudit.model.condition import conditions_of, merge
from dpaudit.model.declaration import Declaration
from dpaudit.model.losses import GaussianLoss, LaplaceLoss, Loss
from dpaudit.model.mechanism import Array
from dpaudit.model.readings import Factor, FailedStep, PrintedReading, Slack, Tight, Verdict
from dpaudit.model.trace import Finding
from dpaudit.report import Report, System, render

CLAIM = dp.Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one", model="joint", unit="one person's year of care")
CLIPPED = dp.Condition(
    kind="clipping", about=("rewards",), text="Rewards are clipped to [-1, 1] before they are summed."
)
HOSTILE = '</title><script>alert("x")</script>|`*_[x](javascript:y)\n# <img src=x onerror=z>\x00\u202e&'
CONFIG = """[algorithm]
name = "capri"
model = "joint"
epsilon = 1.0
delta = 1e-5
horizon = 10000
calibration = "paper"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """A mechanism that only knows its loss; reports need no more."""

    name: ClassVar[str] = "noise"
    stddev: float
    l2_sensitivity: float
    neighbours: Any = "replace_one"

    def loss(self) -> Loss:
        return GaussianLoss(mu=self.l2_sensitivity / self.stddev)

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        return np.asarray(value) + self.stddev * rng.standard_normal(np.shape(value))

    def log_density(self, output: Array, value: Array) -> Array:
        return -0.5 * ((output - value) / self.stddev) ** 2

    def scaled(self, factor: float) -> Self:
        return replace(self, stddev=self.stddev * factor)

    @property
    def noise_multiplier(self) -> float:
        return self.stddev / self.l2_sensitivity


@dataclass(frozen=True, slots=True, kw_only=True)
class Pure(Noise):
    """The same with Laplace noise."""

    name: ClassVar[str] = "pure_noise"

    def loss(self) -> LaplaceLoss:
        return LaplaceLoss(shift=self.l2_sensitivity / self.stddev)


def certificate(declaration: Declaration, claim: dp.Claim, verdict: Verdict, **more: Any) -> dp.Certificate:
    """Return a certificate whose brackets are the accountant's."""
    form = dp.fold(declaration, claim.neighbours)
    tight = Tight(epsilon=dp.bracket_epsilon(form, claim.delta), delta=dp.bracket_delta(form, claim.epsilon))
    given: dict[str, Any] = {
        "reasons": (),
        "printed": None,
        "slack": None,
        "conditions": conditions_of(declaration),
        "findings": (),
        "engines": tight.epsilon.engines,
        "effort": "default",
        "witnesses": (),
        "versions": (("dpaudit", "0.1.0"), ("numpy", "2.4.6")),
        "source_digest": "5f" * 32,
    } | more
    return dp.Certificate(
        verdict=verdict, claim=claim, tight=given.pop("tight", tight), declaration=declaration, **given
    )


def epochs(multiplier: float, number: int = 6, rule: str | None = None) -> dp.PostProcess:
    """Return the declaration of a bandit whose users are split over epochs."""
    slots = math.log(10_000)
    share = dp.Printed(rule="classic_gaussian", epsilon=1 / slots, delta=1e-5 / slots) if rule else None
    whole = dp.Printed(rule="basic", epsilon=1.0, delta=1e-5, slots=slots) if rule else None
    parts = tuple(
        dp.Release(label=f"estimator g_{r}", mechanism=Noise(stddev=2 * multiplier, l2_sensitivity=2.0), printed=share)
        for r in range(1, number + 1)
    )
    inner = dp.Parallel(parts=parts, key="the epoch of a user's arrival", printed=whole)
    return dp.PostProcess(
        part=dp.Billboard(part=inner, reads=("their own context",)), steps=("surviving actions", "confidence widths")
    )


def audit(
    claim: dp.Claim,
    *,
    mu: float = 0.0145,
    lower: float = 0.012,
    verdict: AuditVerdict = "consistent",
    certified: float = math.inf,
    **more: Any,
) -> dp.AuditResult:
    """Return an audit of Gaussian scores, with the exact ROC of two normals `mu` apart."""
    from scipy.special import ndtr, ndtri

    rates = np.linspace(0, 1, 60)
    roc = tuple((float(x), float(ndtr(ndtri(x) + mu))) for x in rates)
    given: dict[str, Any] = {
        "name": "transcript",
        "runs": 40_000,
        "delta": claim.delta,
        "significance": 0.01,
        "ceiling": 7.9,
        "power": Power(epsilon=0.11, probability=0.9, error=0.1, kind="less_noise", repetitions=36),
        "view": "transcript",
        "attack": "likelihood ratio",
        "bound": "gaussian",
        "bounds": (
            LowerBound(name="binomial", epsilon=0.0, significance=0.01),
            LowerBound(name="gaussian", epsilon=lower, significance=0.01, assumption="scores are normal"),
        ),
        "counts": Counts(
            runs=20_000,
            guesses=20_000,
            correct=10_190,
            true_positives=5_101,
            false_positives=4_911,
            positives=10_000,
            negatives=10_000,
        ),
        "seed": 7,
        "description": "One user's reward is moved from one end of its range to the other.",
        "seconds": 3.2,
        "roc": roc,
    } | more
    return dp.AuditResult(verdict=verdict, epsilon_lower=lower, claim=claim, certified=certified, **given)


def _paper() -> Report:
    declaration = epochs(68.816458, rule="basic")
    slack = Slack(
        epsilon_ratio=24.27,
        noise_ratio=18.4466,
        factors=(
            Factor(
                name="Constant 4 instead of 2√2",
                factor=1.45,
                noise_factor=1.4142,
                sentence="The paper's constant is √2 larger than its theorem needs.",
            ),
            Factor(
                name="Classic tail",
                factor=1.5,
                noise_factor=1.4547,
                sentence="The classic Gaussian tail bound, against the exact curve.",
            ),
            Factor(
                name="Slots", factor=1.6, noise_factor=1.5323, sentence="9.21 slots are budgeted where 6 epochs run."
            ),
            Factor(
                name="Basic composition",
                factor=2.6,
                noise_factor=2.3884,
                sentence="Budgets are added up, against exact composition of Gaussians.",
            ),
            Factor(
                name="Sequence instead of partition",
                factor=2.7,
                noise_factor=2.4495,
                sentence="Each user is in one epoch, so that one epoch is what a record meets.",
            ),
        ),
    )
    problem = FailedStep(
        node="root.0.0", rule="basic", message="9.21 slots are composed where the node has 6 parts; sound, but loose."
    )
    held = certificate(
        declaration,
        CLAIM,
        "certified",
        printed=PrintedReading(epsilon=1.0, delta=1e-5, valid=True, problems=(problem,)),
        slack=slack,
        conditions=merge(
            conditions_of(declaration),
            (
                dp.Condition(kind="sensitivity", status="checked"),
                dp.Condition(kind="fresh_noise", status="checked"),
                CLIPPED.seen(holds=True),
            ),
        ),
    )
    upper = held.tight.epsilon.upper
    audits = (
        audit(CLAIM, certified=upper),
        audit(
            CLAIM,
            name="actions",
            view="actions",
            attack="threshold on arm frequency",
            mu=0.005,
            lower=0.0,
            certified=upper,
            power=Power(epsilon=0.35, probability=0.9, error=0.1, kind="less_noise", repetitions=36),
            verdict="consistent",
        ),
    )
    return Report(
        certificate=held,
        audits=audits,
        system=System(name="Care-plan ranking", unit="one person's year of care"),
        title="CAPRI on the RAND Health Insurance Experiment",
        config_text=CONFIG,
        command="dpaudit report care.toml -o report --seed 7",
        created="2026-03-01",
        notes=("The theory's confidence widths are vacuous: at this horizon they eliminate nothing.",),
    )


def _all_checked() -> Report:
    claim = dp.Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one", unit="one patient")
    declaration = dp.Release(label="total", mechanism=Noise(stddev=3.7307, l2_sensitivity=1.0))
    conditions = tuple(replace(c, status="checked") for c in conditions_of(declaration))
    printed = PrintedReading(epsilon=1.0, delta=1e-5, valid=True)
    held = certificate(declaration, claim, "certified", conditions=conditions, printed=printed)
    one = audit(
        claim,
        mu=0.268,
        lower=0.86,
        certified=held.tight.epsilon.upper,
        power=Power(epsilon=0.95, probability=0.9, error=0.1, kind="less_noise", repetitions=36),
    )
    return Report(
        certificate=held,
        audits=(one,),
        system=System(name="Totals", unit="one patient"),
        created="2026-03-01",
        code="totals.py, class Totals",
    )


def _refuted() -> Report:
    declaration = dp.Sequential(
        parts=(epochs(3.0), dp.Release(label="last", mechanism=Noise(stddev=2.0, l2_sensitivity=1.0)))
    )
    held = certificate(
        declaration,
        CLAIM,
        "refuted",
        reasons=("The declaration's epsilon is at least 2.9, above the claimed 1.",),
        slack=Slack(
            epsilon_ratio=0.3,
            noise_ratio=0.42,
            factors=(
                Factor(
                    name="Missing root of two", factor=0.7, noise_factor=0.7071, sentence="The noise lacks a factor √2."
                ),
            ),
        ),
    )
    return Report(certificate=held, created="2026-03-01", title="A claim that does not hold")


def _not_proved() -> Report:
    declaration = epochs(3.7307)
    violated = CLIPPED.seen(holds=False)
    finding = Finding(
        rule="DPA212",
        where="estimator g_2",
        message="'estimator g_2' ran Noise(stddev=3.7), declared Noise(stddev=7.5).",
    )
    held = certificate(
        declaration,
        CLAIM,
        "not_proved",
        reasons=("A condition of the proof was seen violated.",),
        conditions=(*conditions_of(declaration), violated),
        findings=(finding,),
    )
    return Report(
        certificate=held,
        audits=(audit(CLAIM, verdict="inconclusive", lower=0.0, ceiling=0.8, seed=None),),
        created="2026-03-01",
    )


def _violation() -> Report:
    declaration = epochs(3.7307)
    conditions = tuple(replace(c, status="checked") for c in conditions_of(declaration))
    held = certificate(declaration, CLAIM, "certified", conditions=conditions)
    return Report(
        certificate=held,
        audits=(audit(CLAIM, verdict="violation", mu=0.53, lower=1.82, certified=held.tight.epsilon.upper),),
        created="2026-03-01",
        title="Half the noise",
    )


def _inconclusive() -> Report:
    base = _violation()
    return replace(base, audits=(audit(CLAIM, verdict="inconclusive", lower=0.0),), title="No result")


def _infinite() -> Report:
    claim = dp.Claim(epsilon=1.0, neighbours="replace_one", unit="one message")
    declaration = dp.Repeat(part=dp.Release(label="sums", mechanism=Noise(stddev=5.0, l2_sensitivity=1.0)), times=40)
    held = certificate(declaration, claim, "refuted", reasons=("No finite epsilon holds at delta 0.",))
    return Report(
        certificate=held, audits=(audit(claim, lower=0.4, ceiling=math.inf, certified=math.inf),), created="2026-03-01"
    )


def _open() -> Report:
    claim = dp.Claim(epsilon=1.0, delta=1e-6, neighbours="replace_one", unit="one trip")
    declaration = dp.Group(part=dp.Stated(epsilon=0.4, delta=1e-8, source="the vendor's white paper"), size=3)
    wide = Tight(
        epsilon=Bracket(lower=0.3, upper=math.inf, engines=("closed",)),
        delta=Bracket(lower=0.0, upper=1.0, engines=("closed",)),
    )
    return Report(
        certificate=certificate(
            declaration, claim, "not_proved", reasons=("No engine bounds the loss from above.",), tight=wide
        ),
        created="2026-03-01",
    )


def _pure() -> Report:
    claim = dp.Claim(epsilon=2.0, neighbours="replace_one", model="local", unit="one vote")
    declaration = dp.Sequential(
        parts=tuple(
            dp.Release(label=f"answer {i}", mechanism=Pure(stddev=10.0 + i % 2, l2_sensitivity=1.0)) for i in range(12)
        )
    )
    return Report(
        certificate=certificate(declaration, claim, "certified"),
        audits=(audit(claim, mu=0.5, lower=0.7),),
        created="2026-03-01",
    )


def _huge() -> Report:
    parts = tuple(
        dp.Release(label=f"day {i}", mechanism=Noise(stddev=300.0 + i // 50, l2_sensitivity=1.0)) for i in range(600)
    )
    tree: Declaration = dp.Sequential(parts=(*parts, epochs(300.0, number=17)))
    for _ in range(30):
        tree = dp.PostProcess(part=tree, steps=("rounding",))
    claim = replace(CLAIM, epsilon=4.0)
    return Report(certificate=certificate(tree, claim, "certified"), created="2026-03-01", title="Six hundred days")


def _hostile() -> Report:
    claim = replace(CLAIM, unit=HOSTILE)
    declaration = dp.Sequential(
        parts=(
            dp.Parallel(
                parts=(dp.Release(label=HOSTILE, mechanism=Noise(stddev=9.0, l2_sensitivity=1.0)),), key=HOSTILE
            ),
            dp.Stated(epsilon=0.1, source=HOSTILE),
        )
    )
    held = certificate(
        declaration,
        claim,
        "not_proved",
        reasons=(HOSTILE,),
        printed=PrintedReading(
            epsilon=1.0, delta=0.0, valid=False, problems=(FailedStep(node=HOSTILE, rule=HOSTILE, message=HOSTILE),)
        ),
        slack=Slack(
            epsilon_ratio=2.0,
            noise_ratio=2.0,
            factors=(Factor(name=HOSTILE, factor=2.0, noise_factor=2.0, sentence=HOSTILE),),
        ),
        conditions=(
            *conditions_of(declaration),
            dp.Condition(kind="other", about=(HOSTILE,), text=HOSTILE, status="violated"),
        ),
        findings=(Finding(rule=HOSTILE, where=HOSTILE, message=HOSTILE),),
        versions=((HOSTILE, HOSTILE),),
        engines=(HOSTILE,),
        source_digest=HOSTILE,
    )
    one = audit(
        claim,
        name=HOSTILE,
        view=HOSTILE,
        attack=HOSTILE,
        bound=HOSTILE,
        description=HOSTILE,
        bounds=(LowerBound(name=HOSTILE, epsilon=0.1, significance=0.01, assumption=HOSTILE),),
    )
    return Report(
        certificate=held,
        audits=(one,),
        system=System(name=HOSTILE, unit=HOSTILE),
        title=HOSTILE,
        config_text=HOSTILE + "\n```\n",
        command=HOSTILE,
        created="2026-03-01",
        notes=(HOSTILE, "lone \ud800 surrogate"),
    )


STORIES = {
    "paper": _paper,
    "checked": _all_checked,
    "refuted": _refuted,
    "not_proved": _not_proved,
    "violation": _violation,
    "inconclusive": _inconclusive,
    "infinite": _infinite,
    "open": _open,
    "pure": _pure,
    "huge": _huge,
    "hostile": _hostile,
}


@pytest.fixture(scope="session")
def stories() -> dict[str, Report]:
    return {name: make() for name, make in STORIES.items()}


class Pages(dict[str, dict[str, str]]):
    """The rendered files of each story, rendered when they are first asked for."""

    def __init__(self, stories: dict[str, Report]) -> None:
        super().__init__()
        self.stories = stories

    def __missing__(self, name: str) -> dict[str, str]:
        self[name] = files = render(self.stories[name])
        return files


@pytest.fixture(scope="session")
def story_pages(stories: dict[str, Report]) -> Pages:
    """Pages that all tests of a session share; nobody may change them."""
    return Pages(stories)
