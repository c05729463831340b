"""Replays of whole programs on one tape: a sound program is clean, and each broken twin breaks its own rule."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from audits import replay_program
from audits.checks.laws.mechanism_law import law_findings
from audits.checks.taped_moves import Limits, moves_of
from audits.checks.taped_noise import drawn_again
from audits.checks.taped_run import _place
from dpaudit import Parallel, PostProcess, Recorder, Release, Repeat, Sequential, Streams, Transcript
from dpaudit.model.case import ReplayCase
from dpaudit.model.mechanism import Array
from dpaudit.model.tape import RunTape, TapedGenerator, tape_of
from mechanisms import DiscreteLaplace, Gaussian, RandomisedResponse, TreeAggregation

NOISE = Gaussian(stddev=3.0, l2_sensitivity=2.0, neighbours="replace_one")
USERS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """Two noisy sums of clipped records, each of its own half of the people, and the sign of their difference."""

    twin: str = ""

    def declaration(self) -> PostProcess:
        halves = tuple(Release(label=f"half {part}", mechanism=NOISE) for part in (1, 2))
        return PostProcess(part=Parallel(parts=halves, key="the order of arrival"), steps=("the sign",))

    def cases(self, problem: Any) -> tuple[Any, ...]:
        return ()

    def run(self, problem: Any, streams: Streams, n_runs: int) -> Transcript:
        data = streams.environment.uniform(-1, 1, (n_runs, USERS, 2))
        arrays, recorder = self.publish(data, streams)
        return Transcript(n_runs=n_runs, arrays=arrays, views={"all": tuple(arrays)}, trace=recorder.trace())

    def replays(self, problem: Any) -> tuple[ReplayCase, ...]:
        def run(data: Any, rng: Any, n_runs: int) -> Any:
            return self.publish(np.broadcast_to(data, (n_runs, USERS, 2)), Streams.spawn(rng))[0]

        first = np.full((USERS, 2), 0.1)
        pairs: list[tuple[str, Any, Any]] = []
        for at in (0, USERS // 2 - 1, USERS // 2, USERS - 1):
            for values in ((1.0, -1.0), (np.nan, 1.0), (1e300, -1.0)):
                left, right = first.copy(), first.copy()
                left[at], right[at] = ((value, 0.0) for value in values)
                pairs.append((f"record {at + 1} is {values[0]:g} or {values[1]:g}", left, right))
        return (ReplayCase(name="means", pairs=tuple(pairs), run=run, others=((first, -first),)),)

    def publish(self, data: Any, streams: Streams) -> tuple[dict[str, Any], Recorder]:
        recorder, noisy = Recorder(streams.noise), []
        bounded = data if self.twin == "no clipping" else np.clip(np.nan_to_num(data, nan=0.0), -0.7, 0.7)
        for part, start in ((1, 0), (2, USERS // 2)):
            first = max(start - 1, 0) if self.twin == "shared person" else start
            exact = bounded[:, first : start + USERS // 2].sum(axis=1)
            if self.twin == "one more release" and exact[0, 0] > 2.5:
                recorder.release("half 1", NOISE, exact)
            if self.twin == "released twice":
                recorder.release(f"half {part}", NOISE, exact)
            noisy.append(recorder.release(f"half {part}", NOISE, exact))
            if self.twin == "entry exact":
                noisy[-1][:, 1] = exact[:, 1]
            if self.twin == "noise thrown away":
                noisy[-1] = exact + NOISE.release(np.zeros(exact.shape), np.random.default_rng(0))
            if self.twin == "reads data":
                noisy[-1] = noisy[-1] * (1 + 1e-12 * np.sign(exact))
        return {"sums": np.stack(noisy, axis=1), "sign": np.sign(noisy[0] - noisy[1])}, recorder


def found(twin: str) -> set[str]:
    program = Means(twin=twin)
    return {finding.rule for finding in replay_program(program, None, program.declaration(), ()).findings}


def test_a_sound_program_is_clean_and_its_conditions_say_what_was_looked_at() -> None:
    """Nothing is found; sensitivity, noise, parts and post-processing are checked, each with a count."""
    program = Means()
    replayed = replay_program(program, None, program.declaration(), ())
    assert replayed.findings == ()
    assert {(c.kind, c.status) for c in replayed.conditions} == {
        (kind, "checked") for kind in ("sensitivity", "fresh_noise", "public_key", "one_part", "no_data_read")
    }
    assert all("Looked at: " in c.text and c.text[-1] == "." for c in replayed.conditions)


def test_a_run_checks_that_parts_ran_as_often_as_declared_and_only_if_they_did() -> None:
    """The twin releases each part once where two times are declared: the condition stays assumed, nothing is voided."""
    program = Means()
    twice = Repeat(part=program.declaration(), times=2)
    for declaration, status in ((Sequential(parts=(program.declaration(),)), {"checked"}), (twice, set())):
        conditions = replay_program(program, None, declaration, ()).conditions
        assert {c.status for c in conditions if c.kind == "declared_times"} == status


@pytest.mark.parametrize(
    ("twin", "rule", "kind"),
    [
        ("no clipping", "DPA220", "sensitivity"),
        ("one more release", "DPA221", "sensitivity"),
        ("entry exact", "DPA224", "no_data_read"),
        ("noise thrown away", "DPA224", "no_data_read"),
        ("reads data", "DPA224", "no_data_read"),
        ("shared person", "DPA228", "public_key"),
        ("released twice", "DPA228", "public_key"),
        ("shared person", "DPA228", "one_part"),
        ("released twice", "DPA228", "one_part"),
    ],
)
def test_each_twin_breaks_its_rule_and_its_condition(twin: str, rule: str, kind: str) -> None:
    """Every sentence that can be checked has a program that turns it into violated."""
    program = Means(twin=twin)
    replayed = replay_program(program, None, program.declaration(), ())
    assert rule in {finding.rule for finding in replayed.findings}
    assert {c.kind for c in replayed.conditions if c.status == "violated"} >= {kind}


def test_a_finding_names_release_entry_size_and_line() -> None:
    """A reader can go from the finding to the line of code."""
    program = Means(twin="no clipping")
    message = next(
        finding.message
        for finding in replay_program(program, None, program.declaration(), ()).findings
        if finding.rule == "DPA220"
    )
    assert "'half 1'" in message
    assert "entry (0,)" in message
    assert "test_program_replay.py:" in message
    exact = replay_program(Means(twin="entry exact"), None, program.declaration(), ()).findings
    assert any("first at " in finding.message and "test_program_replay.py:" in finding.message for finding in exact)


class Repeating(Gaussian):
    """Known bad: a mechanism whose noise does not depend on the generator."""

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        return np.asarray(value) + np.arange(1.0, np.size(value) + 1).reshape(np.shape(value)) / 7


class Whole(Gaussian):
    """Known bad: a mechanism that adds whole numbers only."""

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        return np.asarray(value) + np.round(10 * rng.standard_normal(np.shape(value)))


class Shrinking(Gaussian):
    """Known bad: a mechanism whose noise depends on the answer."""

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        return np.asarray(value) + rng.standard_normal(np.shape(value)) / (1 + np.abs(value))


@pytest.mark.parametrize(("kind", "rule"), [(Repeating, "DPA227"), (Whole, "DPA229"), (Shrinking, "DPA229")])
def test_noise_that_repeats_or_is_coarse_or_reads_the_answer_is_found(
    kind: type[Repeating] | type[Whole] | type[Shrinking], rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tape holds every noise, so reuse, whole numbers and dependence on the answer need no statistics."""
    mechanism = kind(stddev=3.0, l2_sensitivity=2.0, neighbours="replace_one")
    monkeypatch.setattr("tests.checks.test_program_replay.NOISE", mechanism)
    program = Means()
    replayed = replay_program(program, None, program.declaration(), ())
    assert rule in {finding.rule for finding in replayed.findings}
    assert {c.kind for c in replayed.conditions if c.status == "violated"} >= {"fresh_noise"}


def test_a_program_without_a_tape_decides_nothing() -> None:
    """What was not looked at stays assumed."""

    class Silent(Means):
        def publish(self, data: Any, streams: Streams) -> tuple[dict[str, Array], Recorder]:
            return {"sums": streams.noise.standard_normal((len(data), 2))}, Recorder(streams.noise)

    replayed = replay_program(Silent(), None, Means().declaration(), ())
    assert (replayed.findings, replayed.conditions) == ((), ())


def test_two_runs_on_one_tape_agree_after_a_release_however_much_they_drew_before() -> None:
    """The streams start afresh after every release; noise and outputs repeat, bit by bit."""
    draws = []
    for length in (3, 17):
        rng = RunTape(seed=5).generator()
        streams = Streams.spawn(rng)
        streams.actions.random(length)
        output = Recorder(streams.noise).release("sum", NOISE, np.zeros((2, 3)))
        draws.append((output.tobytes(), streams.actions.random(4).tobytes(), streams.public.random(4).tobytes()))
    assert draws[0] == draws[1]
    assert tape_of(np.random.default_rng(0)) is None
    assert isinstance(RunTape(seed=0).generator().spawn(1)[0], TapedGenerator)


def test_an_element_of_a_stream_that_is_drawn_anew_is_found() -> None:
    """A stream may show an element again as it was; with other noise it tells more than was declared (DPA227)."""
    tree = TreeAggregation(horizon=8, leaf=NOISE)
    for noises, rules in (((0.5, 0.7), ["DPA227"]), ((0.5, 0.5), [])):
        tape = RunTape(seed=0)
        for noise in noises:
            value = np.zeros((2, 3))
            tape.enter(("sums",), tree, value, value + noise, element=np.array([4, 4]))
        assert [finding.rule for finding in drawn_again(tape)] == rules


def test_a_sum_that_is_no_number_moved_infinitely_far_and_once() -> None:
    """A record that makes a stream of sums NaN moved its own element infinitely far, and no later one."""
    tapes: list[RunTape] = []
    for broken in (False, True):
        tape = RunTape(seed=0)
        for element in range(1, 5):
            value = np.full((1, 3), np.nan if broken and element >= 2 else 1.0 * element)
            tape.enter(("half 1",), NOISE, value, value, element=np.array([element]))
        tapes.append(tape)
    moves = moves_of(tapes[0], tapes[1], Limits.of(Means().declaration()))
    assert [(move.entry, move.distance) for move in moves] == [("element 2", np.inf)]


def test_a_tree_of_whole_numbers_is_not_accused_of_being_coarse() -> None:
    """Sums of discrete noise are whole numbers, also where they are stored as floats: nothing is wrong with them."""
    leaf = DiscreteLaplace(scale=3.0, l1_sensitivity=1, neighbours="replace_one")
    asked = ((TreeAggregation(horizon=16, leaf=leaf), (), "counter"),)
    assert list(law_findings(asked)) == []


def test_a_mechanism_that_adds_nothing_is_replayed_without_claims_about_its_noise() -> None:
    """Randomised answers have no difference to look at, so freshness stays assumed."""
    response = RandomisedResponse(epsilon=1.0)

    class Votes:
        def run(self, problem: Any, streams: Streams, n_runs: int) -> Transcript:
            sent = Recorder(streams.noise).release("vote", response, streams.environment.integers(2, size=n_runs))
            return Transcript(n_runs=n_runs, arrays={"vote": sent}, views={"all": ("vote",)}, trace=())

    declaration = Sequential(parts=(Release(label="vote", mechanism=response),))
    replayed = replay_program(Votes(), None, declaration, ())
    assert replayed.findings == ()
    assert {c.kind for c in replayed.conditions}.isdisjoint({"fresh_noise", "sensitivity"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeded(Means):
    """Known bad: the generator of the noise is seeded by the data, or by a constant."""

    def publish(self, data: Any, streams: Streams) -> tuple[dict[str, Any], Recorder]:
        seed = 7 if self.twin == "a constant" else int(np.abs(data).sum() * 1e6)
        rng = streams.noise if self.twin == "sound" else np.random.default_rng(seed)
        recorder = Recorder(rng)
        exact = np.clip(data, -0.7, 0.7)
        noisy = [
            recorder.release(f"half {part}", NOISE, exact[:, start : start + USERS // 2].sum(axis=1))
            for part, start in ((1, 0), (2, USERS // 2))
        ]
        return {"sums": np.stack(noisy, axis=1)}, recorder


@pytest.mark.parametrize(("twin", "violated"), [("sound", False), ("a constant", True), ("the data", True)])
def test_noise_that_does_not_follow_the_seed_of_its_stream_is_found(twin: str, violated: bool) -> None:
    """Such noise is on no tape: it stays the same when nothing but the noise stream changes."""
    program = Seeded(twin=twin)
    conditions = replay_program(program, None, program.declaration(), ()).conditions
    assert any(c.kind == "own_noise_stream" and c.status == "violated" for c in conditions) is violated


@pytest.mark.parametrize("shape", [(), (1,), (2, 3)])
def test_values_that_differ_in_the_sign_of_zeros_alone_are_named(shape: tuple[int, ...]) -> None:
    """No place is the first one where a difference is more than 0; such a pair ended in an IndexError."""
    zeros = np.zeros(shape)
    assert _place(zeros, -zeros) == " in a sign of 0"
    assert _place(zeros, zeros + 2.0).endswith("by 2")


def test_the_place_of_the_largest_difference_is_named() -> None:
    """The first place may differ by rounding alone, as a weight by 1.5e-8 before one that differs by 3."""
    assert _place(np.zeros(4), np.array([0.0, 1.5e-8, 3.0, -2.0])) == " most at (2,), by 3"
