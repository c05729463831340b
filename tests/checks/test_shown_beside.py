"""What programs and functions show beside their outputs: data there are found, noise and public facts are no fault."""
# ruff: noqa: T201 - printing is what these programs do

import logging
import sys
import time
import warnings
from collections.abc import Callable, Generator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import pytest

from audits import Settings, audit, replay_program
from audits.experiment import channels
from audits.experiment.channels import shown_beside
from audits.experiment.published_seeds import published_seeds
from audits.experiment.unseen import unseen_outputs
from audits.outputs.raised import raised_entries, said_by
from dpaudit import AuditCase, Claim, Condition, Recorder, Release, Streams, Transcript
from dpaudit.model.mechanism import Array
from mechanisms import Laplace
from tests.cases import case_of


class Plain(Laplace):
    """Laplace noise under a name of its own, so that no replay tests its law."""

    name: ClassVar[str] = "plain"


CLAIM = Claim(epsilon=1.0, neighbours="replace_one")
NOISE = Plain(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one")
LOG = logging.getLogger("tests.shown")
CONDITION = Condition(kind="clipping", about=("records",), text="Records lay in [0, 1].")
Says = Callable[[Array, Array, Path], object]
"""says(exact sums, noisy sums, folder): what a program does beside publishing"""


def fails(exact: Array, noisy: Array, folder: Path) -> None:
    raise ValueError(f"sum {exact[0]} of object {object()!r}")


def fails_with_noise(exact: Array, noisy: Array, folder: Path) -> None:
    raise ValueError(f"sum {noisy[0]} of object {object()!r}")


@pytest.fixture(autouse=True)
def _usual_level() -> Generator[None, None, None]:
    """Levels below WARNING are off, whatever other tests and libraries have set."""
    root = logging.getLogger()
    before = root.level
    root.setLevel(logging.WARNING)
    yield
    root.setLevel(before)


LEAKING: dict[str, Says] = {
    "printed text": lambda exact, noisy, folder: print("sum", exact[0]),
    "log records": lambda exact, noisy, folder: LOG.warning("sum %s", exact[0]),
    "log records of level DEBUG, which is off here": lambda exact, noisy, folder: LOG.debug("sum %s", exact[0]),
    "warnings": lambda exact, noisy, folder: warnings.warn(f"sum {exact[0]}", stacklevel=1),
    "the file": lambda exact, noisy, folder: (folder / "sums").write_text(str(exact[0])),
    "the text of the exception": fails,
}
"""Programs that show the exact sum, by the channel that the finding names."""

HARMLESS: dict[str, Says] = {
    "noisy sum": lambda exact, noisy, folder: print("sum", noisy[0], file=sys.stderr),
    "logged noisy sum": lambda exact, noisy, folder: LOG.warning("sum %s", noisy[0]),
    "public fact": lambda exact, noisy, folder: LOG.info("%d runs", len(exact)),
    "clock": lambda exact, noisy, folder: print(time.perf_counter_ns()),
    "noisy exception": fails_with_noise,
}
"""Programs that show what everybody may see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """A noisy sum of four answers, and what else the program says; `rarely` publishes it exactly in some runs."""

    says: Says
    folder: Path
    rarely: float = 0.0
    told: bool = False

    def declaration(self) -> Release:
        return Release(label="sum", mechanism=NOISE)

    def publish(self, exact: Array, streams: Streams) -> tuple[dict[str, Array], Recorder]:
        recorder = Recorder(streams.noise)
        noisy = recorder.release("sum", NOISE, exact)
        self.says(exact, noisy, self.folder)
        return {"sum": np.where(streams.public.random(len(exact)) < self.rarely, exact, noisy)}, recorder

    def run(self, problem: Any, streams: Streams, n_runs: int) -> Transcript:
        exact = streams.environment.integers(0, 100, n_runs).astype(float)
        try:
            arrays, recorder = self.publish(exact, streams)
        except ValueError:
            arrays, recorder = Telling(says=print_nothing, folder=self.folder).publish(exact, streams)
        text = f"The first sum was {exact[0]}." if self.told else CONDITION.text
        condition = Condition(kind="clipping", about=("records",), text=text).seen(holds=True)
        return Transcript(
            n_runs=n_runs, arrays=arrays, views={"all": ("sum",)}, trace=recorder.trace(), conditions=(condition,)
        )

    def cases(self, problem: Any) -> tuple[AuditCase, ...]:
        def run(data: float, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
            return self.publish(np.full(n_runs, data), Streams.spawn(rng))[0]

        return (case_of("one answer", run, view="all", description="One answer is 0 or 1."),)


def print_nothing(exact: Array, noisy: Array, folder: Path) -> None:
    """Say nothing."""


def findings(program: Telling) -> list[tuple[str, str]]:
    """The rule and the place of every finding of the replays."""
    found = replay_program(program, None, program.declaration(), program.cases(None)).findings
    return [(finding.rule, finding.where) for finding in found]


@pytest.mark.filterwarnings("ignore:sum:UserWarning")
@pytest.mark.parametrize("channel", LEAKING)
def test_a_program_that_shows_its_data_beside_its_outputs_is_found(channel: str, tmp_path: Path) -> None:
    """The finding names the channel; no statistics, so no false alarm by chance."""
    found = findings(Telling(says=LEAKING[channel], folder=tmp_path))
    assert found
    assert all(rule == "DPA224" and where.startswith((channel, "new files")) for rule, where in found)


@pytest.mark.parametrize("name", HARMLESS)
def test_noise_public_facts_and_clocks_are_not_accused(name: str, tmp_path: Path) -> None:
    """What is equal with equal releases, and what differs on the same data, follows no data."""
    assert findings(Telling(says=HARMLESS[name], folder=tmp_path)) == []


def test_a_condition_that_shows_data_in_its_text_is_found(tmp_path: Path) -> None:
    """The certificate prints texts of conditions."""
    assert findings(Telling(says=print_nothing, folder=tmp_path, told=True)) == [("DPA224", "conditions")]


def test_an_exact_answer_in_two_of_a_hundred_runs_is_found_by_many_runs(tmp_path: Path) -> None:
    """Of 256 runs none is exact with probability .006; four runs show none with .92. The seed is fixed."""
    assert findings(Telling(says=print_nothing, folder=tmp_path, rarely=0.02)) == [("DPA224", "sum")]


def test_records_of_other_levels_reach_no_other_handler() -> None:
    """Reading a level that is off turns it on for nobody else, and leaves the logger as it was."""
    kept: list[logging.LogRecord] = []
    handler, root = logging.Handler(), logging.getLogger()
    setattr(handler, "emit", kept.append)  # noqa: B010 - a list is all that this handler needs
    root.addHandler(handler)
    level = root.level
    try:
        with shown_beside() as shown:
            LOG.debug("hidden")
            LOG.error("seen")
    finally:
        root.removeHandler(handler)
    assert [record.getMessage() for record in kept] == ["seen"]
    assert shown.channels["log records"] == ["tests.shown seen"]
    assert (root.level, handler.filters) == (level, [])


def function(show: Callable[[float, float], object]) -> Callable[..., Any]:
    """A private function of one run that also shows something."""

    def run(data: float, rng: np.random.Generator) -> float:
        noisy = data + rng.laplace()
        show(data, noisy)
        return float(noisy)

    return run


def test_a_noisy_number_in_a_log_is_no_channel_and_the_exact_one_is() -> None:
    """Numbers that the run returns as well, perhaps rounded, say nothing more."""
    honest = (
        function(lambda data, noisy: LOG.warning("sum %.3f", noisy)),
        function(lambda data, noisy: print(f"{noisy:.1f} or {noisy!r}")),
    )
    assert [unseen_outputs(_each(run), (0.25, 1.25)) for run in honest] == [(), ()]
    leaking = function(lambda data, noisy: LOG.warning("sums %.3f and %.3f", noisy, data))
    assert unseen_outputs(_each(leaking), (0.25, 1.25)) == ("log records",)


COUNTS: dict[str, Callable[[float, int], object]] = {
    "printed": lambda exact, noisy: print("count", noisy),
    "in a sentence": lambda exact, noisy: LOG.warning("The noisy count is %d.", noisy),
    "twice": lambda exact, noisy: print(f"{noisy} of 100, {noisy:.1f} %"),
}


@pytest.mark.parametrize("name", COUNTS)
def test_a_whole_number_that_is_returned_is_no_channel(name: str) -> None:
    """What is printed is a function of what is published."""
    assert unseen_outputs(_each(count(COUNTS[name])), (5.0, 6.0)) == ()


EXACT: dict[str, tuple[Callable[[float, int], object], str]] = {
    "printed": (lambda exact, noisy: print("count", int(exact)), "printed text"),
    "beside the noisy one": (lambda exact, noisy: LOG.warning("%d, once %d", noisy, exact), "log records"),
    "less the noisy one": (lambda exact, noisy: print(noisy - int(exact) + 7 * int(exact)), "printed text"),
    "as a fraction's digits": (lambda exact, noisy: print(f"{noisy} {exact / 8}"), "printed text"),
}


@pytest.mark.parametrize("name", EXACT)
def test_an_exact_whole_number_is_a_channel_though_it_equals_the_noisy_one_at_times(name: str) -> None:
    """With probability .46 a run: in all runs of the look with 1e-20."""
    show, channel = EXACT[name]
    assert unseen_outputs(_each(count(show)), (5.0, 6.0)) == (channel,)


def count(show: Callable[[float, int], object]) -> Callable[..., Any]:
    """A count with geometric noise of epsilon 1 that also shows something."""

    def run(data: float, rng: np.random.Generator) -> int:
        noisy = int(data) + int(rng.geometric(1 - np.exp(-1.0)) - rng.geometric(1 - np.exp(-1.0)))
        show(data, noisy)
        return noisy

    return run


def test_a_returned_number_in_a_file_is_no_channel(tmp_path: Path) -> None:
    """The same for what is written to a file; the exact number there is one."""
    file = tmp_path / "counts"
    assert unseen_outputs(_each(count(lambda exact, noisy: file.write_text(f"{noisy}\n"))), (5.0, 6.0)) == ()
    found = unseen_outputs(_each(count(lambda exact, noisy: file.write_text(f"{exact}\n"))), (5.0, 6.0))
    assert found == (f"the file {str(file)!r}",)


def _each(run: Callable[..., Any]) -> Callable[..., Any]:
    """The function as the audit calls it, once a run."""

    def runs(data: float, rng: np.random.Generator, n_runs: int) -> Array:
        return np.array([run(data, stream) for stream in rng.spawn(n_runs)])

    return runs


def test_a_log_in_one_run_of_ten_is_found_before_the_audit() -> None:
    """Sixty further calls of each data set miss it with probability .002. The streams are fixed."""

    def seldom(data: float, rng: np.random.Generator) -> float:
        if rng.random() < 0.1:
            LOG.warning("sum %s", data)
        return float(data + rng.laplace())

    result = audit(
        cast("Any", seldom),
        neighbours=(0.0, 1.0),
        claim=CLAIM,
        runs=4_000,
        rng=np.random.default_rng(1),
        how=Settings(control_runs=0),
    )
    assert any("log records" in remark for remark in result.remarks)
    assert result.verdict == "inconclusive"


@pytest.mark.parametrize(("shows", "verdict"), [(True, "violation"), (False, "inconclusive")])
def test_the_text_of_an_exception_is_an_output_of_its_run(shows: bool, verdict: str) -> None:
    """One run in five raises the same exception on both data sets; its text holds the data, or the noisy answer."""

    def run(data: float, rng: np.random.Generator) -> float:
        noisy = data + rng.laplace(scale=2.0)
        if rng.random() < 0.2:
            raise ValueError(f"row {data if shows else noisy:.6f} of {object()!r} is bad")
        return float(noisy)

    result = audit(
        cast("Any", run),
        neighbours=(0.0, 1.0),
        claim=CLAIM,
        runs=2_000,
        rng=np.random.default_rng(1),
        significance=1e-6,
        how=Settings(control_runs=0),
    )
    assert result.verdict == verdict


def test_an_exception_shows_its_attributes_and_its_cause_but_no_suppressed_context() -> None:
    """What a traceback prints is read, an address in memory is not."""

    def raised(*, hidden: bool) -> ValueError:
        try:
            try:
                raise KeyError("age 7")
            except KeyError as error:
                raise ValueError("failed") from (None if hidden else error)
        except ValueError as error:
            return error

    open_error, hidden_error = raised(hidden=False), raised(hidden=True)
    assert said_by(open_error) == "ValueError: failed\nKeyError: 'age 7'"
    assert said_by(hidden_error) == "ValueError: failed"
    hidden_error.args = (f"{object()!r}",)
    again = ValueError(f"{object()!r}")
    again.batch = 3.0  # type: ignore[attr-defined]  # as a program may add it
    assert {name: value for name, value in raised_entries(again).items() if "batch" not in name} == raised_entries(
        hidden_error
    )
    assert raised_entries(again)["number  raised!batch"] == 3.0


def seeded(*, shown: bool, drawn: bool) -> Callable[..., Any]:
    """Laplace noise from a generator with a seed, which is shown or not, or that draws a public place instead."""

    def run(data: float, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        seeds = rng.integers(0, 2**31, n_runs)
        made = [np.random.default_rng(int(seed)) for seed in seeds]
        noise = np.array([one.laplace() for one in made]) if drawn else rng.laplace(size=n_runs)
        place = np.array([int(one.integers(5)) for one in made])
        return {"seed": seeds if shown else 0 * seeds, "place": place, "sum": data + noise}

    return run


def test_a_published_seed_of_the_noise_is_named_and_no_other_seed_is() -> None:
    """A seed that nobody sees, and one that draws public things, are no fault."""
    assert published_seeds(seeded(shown=True, drawn=True), (0.0, 1.0)) == (".sum",)
    assert published_seeds(seeded(shown=False, drawn=True), (0.0, 1.0)) == ()
    assert published_seeds(seeded(shown=True, drawn=False), (0.0, 1.0)) == ()


def test_an_audit_of_code_that_publishes_its_seed_says_so_and_is_inconclusive() -> None:
    """No learner guesses what a generator draws from a seed; the remark says who can take the noise away."""
    result = audit(
        seeded(shown=True, drawn=True),
        neighbours=(0.0, 1.0),
        claim=CLAIM,
        runs=400,
        rng=np.random.default_rng(1),
        how=Settings(control_runs=0),
    )
    assert result.verdict == "inconclusive"
    assert any("'sum' follows from the data alone" in remark for remark in result.remarks)


def test_blocks_that_end_in_any_order_leave_the_level_as_it_was() -> None:
    root, first, second = logging.getLogger(), ExitStack(), ExitStack()
    first.enter_context(channels._logging(channels._Records()))
    second.enter_context(channels._logging(channels._Records()))
    first.close()
    assert root.level == 1
    second.close()
    assert root.level == logging.WARNING
