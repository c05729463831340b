"""Running the command line in this process, on configurations of two small algorithms made for these tests."""

from dataclasses import dataclass

import numpy as np
import pytest

from dpaudit import AuditCase, Claim, Condition, Declaration, Recorder, Release, Streams, Transcript
from dpaudit.model.condition import Status
from mechanisms import Gaussian
from tests.cases import case_of
from tests.configurations import CLAIM

WRITTEN = f"""\
{CLAIM}
[declaration]
node = "repeat"
times = 40

[declaration.part]
node = "release"
label = "sums"
mechanism = {{ name = "gaussian", stddev = 30.0, l2_sensitivity = 1.0 }}
"""

CODED = """\
[algorithm]
name = "one_sum"
epsilon = 1.0

[problem]
name = "three_people"

[audit]
runs = 2000
seed = 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneSum:
    """One noisy sum of values in [0, 1]."""

    epsilon: float
    delta: float = 1e-5
    clipped: bool = True

    def claim(self) -> Claim:
        return Claim(epsilon=self.epsilon, delta=self.delta, neighbours="replace_one")

    def mechanism(self) -> Gaussian:
        return Gaussian.calibrated(self.claim(), l2_sensitivity=1.0)

    def declaration(self) -> Declaration:
        return Release(label="sum", mechanism=self.mechanism())

    def sampled(self) -> Gaussian:
        return self.mechanism()

    def run(self, problem: tuple[float, ...], streams: Streams, n_runs: int) -> Transcript:
        recorder = Recorder(streams.noise)
        sums = recorder.release("sum", self.sampled(), np.full(n_runs, sum(problem)))
        status: Status = "checked" if self.clipped else "violated"
        return Transcript(
            n_runs=n_runs,
            arrays={"sum": sums},
            views={"published": ("sum",)},
            trace=recorder.trace(),
            conditions=(
                Condition(kind="clipping", about=("values",), text="Values are clipped to [0, 1].", status=status),
            ),
        )

    def notes(self, problem: tuple[float, ...]) -> tuple[str, ...]:
        return ("A note on the sum.",)

    def cases(self, problem: tuple[float, ...]) -> tuple[AuditCase, ...]:
        def run(data: tuple[float, ...], rng: np.random.Generator, n_runs: int) -> np.ndarray:
            return self.run(data, Streams.spawn(rng), n_runs).arrays["sum"]

        return tuple(
            case_of(
                f"sum, {view}",
                run,
                ((*problem, 0.0), (*problem, 1.0)),
                view=view,
                description="The last value is 0 or 1.",
                score=np.asarray,
                gaussian=True,
            )
            for view in ("published", "again")
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ThirdOfTheNoise(OneSum):
    """The broken twin: it declares the calibrated noise and samples a third of it."""

    def sampled(self) -> Gaussian:
        return self.mechanism().scaled(1 / 3)


def three_people(*, shift: float = 0.0) -> tuple[float, ...]:
    """Return three values."""
    return (0.1 + shift, 0.5, 0.9)


@dataclass(frozen=True, slots=True, kw_only=True)
class DividesByZero(OneSum):
    """A plug-in whose own run has a defect."""

    def sampled(self) -> Gaussian:
        return self.mechanism().scaled(1 / int(self.delta))


@dataclass(frozen=True, slots=True, kw_only=True)
class WithoutCases:
    """A claim and a declaration, and nothing that runs."""

    epsilon: float
    delta: float = 1e-5

    def claim(self) -> Claim:
        return Claim(epsilon=self.epsilon, delta=self.delta, neighbours="replace_one")

    def declaration(self) -> Declaration:
        return Release(label="sum", mechanism=Gaussian.calibrated(self.claim(), l2_sensitivity=1.0))


FAKES = {
    "one_sum": OneSum,
    "without_cases": WithoutCases,
    "third_of_the_noise": ThirdOfTheNoise,
    "divides_by_zero": DividesByZero,
    "three_people": three_people,
}


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let configurations name the algorithms of this file."""
    monkeypatch.setattr("dpaudit.configuration.config.find_plugin", lambda kind, name: FAKES[name])
