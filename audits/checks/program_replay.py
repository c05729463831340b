"""Replay of a whole program on one tape: the same noise and the same public randomness, with other data.

Three comparisons, none of which needs statistics. Neighbours: each answer moves by its sensitivity at most, as often
as declared. Other people: with all releases pinned, everything published is bitwise the same whatever the data.
Noise: what was published less the exact answer is what was drawn, once.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from audits.checks.equality import same
from audits.checks.first_line import first_line
from audits.checks.laws.mechanism_law import asked_by, law_findings
from audits.checks.looked import Looked, attained, decided
from audits.checks.sampler import SamplerSeen, sampler_seen
from audits.checks.secret_draws import secret_draws
from audits.checks.shown_apart import Replay, replayed, shown_apart
from audits.checks.taped_moves import Limits, moves_of, too_far, too_often
from audits.checks.taped_noise import (
    depending,
    drawn_again,
    noises_of,
    not_as_drawn,
    of_another_law,
    of_other_laws_together,
    used_twice,
)
from audits.checks.taped_totals import too_calm
from dpaudit import AuditCase, Condition, Declaration, Streams, Transcript
from dpaudit.model.case import ReplayCase
from dpaudit.model.recorded_run import RecordedRun, record_run, run_on
from dpaudit.model.tape import RunTape, TapedGenerator
from dpaudit.model.trace import Finding, admit

_RUNS = 4
_MANY_RUNS = 256
_NUMBERS = 40_000
"""The noise of many runs is read as far as it has so many numbers, and at least twice as many runs as usual."""

_ROWS = 10_000
"""The noise of many runs is read where four runs release at most so many rows."""
_SEED = 20_240_229
_SAMPLERS = 1e-6
"""The significance of all looks at samplers together."""

_LITTLE_NOISE = (1e3, 100.0, 10.0)
_WIDTHS = ("bonus_scale", "width_factor")
_SMALL = 1e-3

Published = Mapping[str, Any]
Program = Callable[[TapedGenerator], Any]
"""program(rng) -> what is published"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What replays of a program found, and the conditions that they looked at."""

    findings: tuple[Finding, ...]
    conditions: tuple[Condition, ...]


def replay_program(
    algorithm: Any,
    problem: Any,
    declaration: Declaration,
    cases: tuple[AuditCase, ...],
    recorded: RecordedRun | None = None,
) -> Replayed:
    """Return the findings of all replays of `algorithm` on `problem`; a program without a tape has none.

    `recorded` is a run of it that was recorded before; without one, it runs once more.

    Rules: `DPA220` an answer moved further than its sensitivity, `DPA221` other releases or an exception on one side
    only, `DPA224` published values differ although all releases were equal, `DPA226` several parts of a parallel
    composition moved, `DPA227` noise was used twice, `DPA228` a record moved an answer more often than declared,
    `DPA229` noise is missing, coarse, of another law or not the one that was drawn, `DPA230` samples of a mechanism do
    not follow their stated law, `DPA326` a sampler that `samplings` names does not draw as declared.

    >>> from algorithms.dp_ebs import DpEbs
    >>> from algorithms.problems import load
    >>> algorithm, problem = DpEbs(epsilon=1.0, horizon=64, arms=4), load("bradley_terry")(arms=4)
    >>> replay_program(algorithm, problem, algorithm.declaration(), ()).findings
    ()
    """
    limits, looked, untaped = Limits.of(declaration), Looked(), Replayed(findings=(), conditions=())
    found: list[Finding] = []
    first = recorded or record_run(algorithm, problem, n_runs=_RUNS, seed=_SEED)
    replays = algorithm.replays(problem) if hasattr(algorithm, "replays") else ()
    own_stream = tuple(_own_stream(algorithm, problem, first))
    samplers = tuple(_samplers(algorithm, problem))
    found += [finding for seen in samplers for finding in seen.findings]
    if first.tape.released:
        looked.admitted, looked.overrun = _admitted(declaration, first), _overrun(limits, first)
        found += _whole_program(algorithm, problem, first, looked)
        untaped = _without_tape(algorithm, problem, declaration, first)
        found += untaped.findings
        replays = (*map(_as_replay, cases), *replays)
    told: list[Finding] = []
    for case in replays:
        for says, first, second in case.pairs:
            found += _neighbours(case, (first, second), says, limits, looked)
        told += [finding for pair in case.redrawn for finding in _other_draws(case, pair, looked)]
        for one, other in case.others:
            tape = RunTape(seed=_SEED)
            published = case.run(one, tape.generator(), _RUNS)
            if tape.released:
                found += _other_people(tape, published, _on(case, one), _on(case, other), looked)
    found += told
    findings = tuple({(finding.rule, finding.where): finding for finding in reversed(found)}.values())[::-1]
    conditions = decided(declaration, findings, looked) if looked.pairs or looked.published else ()
    whole = attained(algorithm, declaration, looked)
    sampled = (*(seen.condition for seen in samplers), *secret_draws(declaration, samplers, told, looked))
    return Replayed(findings=findings, conditions=(*conditions, *own_stream, *whole, *sampled, *untaped.conditions))


def _whole_program(algorithm: Any, problem: Any, first: RecordedRun, looked: Looked) -> Iterator[Finding]:
    """Yield findings about a recorded run of the whole program: its noise, its mechanisms, and what else it reads."""
    kept: list[Transcript] = []
    program = _program_of(algorithm, problem, kept, _RUNS)
    yield from _other_people(first.tape, first.published, program, program, looked)
    yield from _said_apart(first.transcript, kept[0]) if kept else ()
    if sum(len(release.runs) for release in first.tape.released) <= _ROWS:
        numbers = sum(release.value.size for release in first.tape.released) / first.transcript.n_runs
        many = int(np.clip(_NUMBERS / max(1.0, numbers), 2 * _RUNS, _MANY_RUNS))
        more = record_run(algorithm, problem, n_runs=many, seed=_SEED + 1)
        yield from _noise(more.tape, looked)
        yield from _with_others(more, _program_of(algorithm, problem, [], many), f"other users, in {many} runs")
    yield from law_findings(asked_by(first.tape))
    yield from _with_little_noise(algorithm, problem)


def _without_tape(algorithm: Any, problem: Any, declaration: Declaration, taped: RecordedRun) -> Replayed:
    """Return what an ordinary run shows beside a taped one: findings of its trace, and violated conditions.

    A tape starts every stream afresh after each release, so that streams that were copied part on it.
    """
    try:
        transcript = algorithm.run(problem, Streams.spawn(np.random.default_rng(_SEED)), _RUNS)
    except Exception as error:  # an exception is an output of the audited code
        message = f"The program ends with {type(error).__name__} without a tape, and not on one."
        return Replayed(findings=(Finding(rule="DPA221", where="the program", message=message),), conditions=())
    violated = tuple(condition for condition in transcript.conditions if condition.status == "violated")
    known = {(finding.rule, finding.where) for finding in admit(declaration, taped.transcript.trace)}
    findings = tuple(f for f in admit(declaration, transcript.trace) if (f.rule, f.where) not in known)
    return Replayed(findings=findings, conditions=violated)


def _own_stream(algorithm: Any, problem: Any, first: RecordedRun) -> Iterator[Condition]:
    """Yield a violated condition where noise does not change with the seed of the noise stream, all else equal.

    Such noise is a constant, follows the data, or comes from a stream that serves something else. Noise of a label on
    the tape was drawn from a stream of the tape; nothing more is run where all labels are there.
    """
    taped = {label for release in first.tape.released for label in release.labels}
    if all(line.label in taped or line.fingerprint is None for line in first.transcript.trace):
        return
    tape = RunTape(seed=first.tape.seed, salts={"noise": 1})
    again = run_on(algorithm, problem, tape.generator(), first.transcript.n_runs)
    kept = {
        ours.label
        for ours, theirs in zip(first.transcript.trace, again.trace, strict=False)
        if ours.fingerprint is not None and any(ours.fingerprint) and ours.fingerprint == theirs.fingerprint
    }
    if kept:
        text = (
            f"Noise follows the seed of its own stream (that of {', '.join(sorted(kept))} stays the same whatever that "
            "seed is)."
        )
        yield Condition(kind="own_noise_stream", text=text).seen(holds=False)


def _samplers(algorithm: Any, problem: Any) -> Iterator[SamplerSeen]:
    """Yield what is seen of each sampler that the algorithm names; nothing where it names none."""
    named = algorithm.samplings(problem) if hasattr(algorithm, "samplings") else ()
    for case, rng in zip(named, np.random.default_rng(_SEED).spawn(len(named)), strict=True):
        yield sampler_seen(case, rng, _SAMPLERS / len(named))


def _admitted(declaration: Declaration, recorded: RecordedRun) -> int:
    """Return how many releases a run had, if each was declared and came as often as declared; else 0."""
    trace = recorded.transcript.trace
    other = {"DPA210", "DPA213"} & {finding.rule for finding in admit(declaration, trace)}
    return 0 if other else sum(released.times for released in trace)


def _overrun(limits: Limits, recorded: RecordedRun) -> bool:
    """Return whether a run released some label more often than declared, counting labels that are not declared."""
    times: Counter[str] = Counter()
    for released in recorded.transcript.trace:
        times[released.label] += released.times
    return any(number > limits.times.get(label, 0) for label, number in times.items() if label not in limits.touched)


def _as_replay(case: AuditCase) -> ReplayCase:
    """Return the replay of an audit's own neighbours."""
    first, second = case.neighbours
    return ReplayCase(name=case.name, pairs=((case.description, first, second),), run=case.run)


def _program_of(algorithm: Any, problem: Any, kept: list[Transcript], n_runs: int) -> Program:
    """Return the whole program, with everything that any adversary sees; `kept` gets the transcript of each call."""

    def program(rng: TapedGenerator) -> dict[str, Any]:
        kept.append(run_on(algorithm, problem, rng, n_runs))
        return RecordedRun(transcript=kept[-1], tape=rng.tape).published

    return program


def _said_apart(first: Transcript, second: Transcript) -> Iterator[Finding]:
    """Yield a finding where the texts of conditions, which a certificate prints, differ though releases were equal."""
    texts = tuple(tuple(condition.text for condition in run.conditions) for run in (first, second))
    for one, two in zip(*texts, strict=False):
        if one != two:
            message = f"The data show in the text of a condition, which the certificate prints: {one!r} or {two!r}."
            yield Finding(rule="DPA224", where="conditions", message=message)
            return


def _on(case: ReplayCase, data: Any) -> Program:
    """Return the program of a replay on one data set."""
    return lambda rng: case.run(data, rng, _RUNS)


def _other_people(first: RunTape, published: Any, one: Program, other: Program, looked: Looked) -> Iterator[Finding]:
    """Yield findings about a recorded run: its noise, and the same program with other users, its releases pinned.

    `one` is the recorded program, `other` the one with other users. What they show beside what they publish is compared
    where the other one shows anything.
    """
    yield from _noise(first, looked)
    pinned, salts = tuple(first.released), {"environment": 1}
    second = RunTape(seed=first.seed, pinned=pinned, salts=salts)
    again = replayed(lambda: other(second.generator()))
    if again.ended:
        message = f"The program ends with {again.ended} for other users on the same tape."
        yield Finding(rule="DPA221", where="the program", message=message)
        return
    broken = tuple(_structure(first, second))
    yield from broken
    looked.published += sum(np.size(value) for value in _fields(published).values())

    def same_people() -> Any:
        return one(RunTape(seed=first.seed, pinned=pinned).generator())

    def other_people() -> Any:
        return other(RunTape(seed=first.seed, pinned=pinned, salts=salts).generator())

    yield from _differences(published, again.published, other_people, "other users")
    if again.channels and not broken:
        yield from shown_apart(replayed(same_people), again, (same_people, other_people), "other users")


def _other_draws(case: ReplayCase, pair: tuple[Any, Any], looked: Looked) -> Iterator[Finding]:
    """Yield findings where what is published follows secret draws though every release was the same."""
    first = RunTape(seed=_SEED)
    published = case.run(pair[0], first.generator(), _RUNS)
    if not first.released:
        return
    second = RunTape(seed=_SEED, pinned=tuple(first.released))
    again = case.run(pair[1], second.generator(), _RUNS)
    yield from _structure(first, second)
    looked.redrawn += sum(np.size(value) for value in _fields(published).values())

    def repeat() -> Any:
        return case.run(pair[1], RunTape(seed=_SEED, pinned=tuple(first.released)).generator(), _RUNS)

    yield from _differences(published, again, repeat, "the same data, and other secret draws")


def _noise(tape: RunTape, looked: Looked) -> Iterator[Finding]:
    """Yield findings about the noise of a recorded run."""
    noises = noises_of(tape)
    looked.noises += sum(noise.values.size for noise in noises.values())
    looked.releases += len(tape.released)
    yield from not_as_drawn(tape)
    yield from drawn_again(tape)
    yield from used_twice(noises)
    yield from too_calm(tape)
    yield from of_another_law(noises)
    yield from depending(noises)
    yield from of_other_laws_together(noises)


def _with_little_noise(algorithm: Any, problem: Any) -> Iterator[Finding]:
    """Yield findings about the same code with so little noise that what it decides follows what it reads.

    Noise can be so large that decisions are the same whatever is read; then a second read of the data would not show.
    """
    quiet, first = _quiet_run(algorithm, problem)
    if first is None:
        return
    yield from _with_others(first, _program_of(quiet, problem, [], _RUNS), "other users, with little noise")


def _with_others(first: RecordedRun, program: Program, says: str) -> Iterator[Finding]:
    """Yield findings where a recorded run and the same program with other users, its releases pinned, differ."""

    def others(tape: RunTape) -> Any:
        return program(tape.generator())

    def fresh() -> RunTape:
        return RunTape(seed=first.tape.seed, pinned=tuple(first.tape.released), salts={"environment": 1})

    second = fresh()
    try:
        again = others(second)
    except Exception as error:  # an exception is an output of the audited code
        message = f"The program ends with {type(error).__name__} for {says}, on the same tape."
        yield Finding(rule="DPA221", where="the program", message=message)
        return
    yield from _structure(first.tape, second)
    yield from _differences(first.published, again, lambda: others(fresh()), says)


def _quiet_run(algorithm: Any, problem: Any) -> tuple[Any, RecordedRun | None]:
    """Return the algorithm at the largest epsilon that it takes of a few, and its run; None where it takes none.

    Bonuses and widths that matter for usefulness only are made small, as a clipped bonus hides what is read.
    """
    small = {name: _SMALL for name in _WIDTHS if hasattr(algorithm, name)}
    for epsilon, more in product(_LITTLE_NOISE, (small, {})):
        with suppress(Exception):  # a setting that the code does not take; another one, or none, is tried
            quiet = replace(algorithm, epsilon=epsilon, **more)
            return quiet, record_run(quiet, problem, n_runs=_RUNS, seed=_SEED)
    return algorithm, None


def _neighbours(
    case: ReplayCase, pair: tuple[Any, Any], says: str, limits: Limits, looked: Looked
) -> Iterator[Finding]:
    """Yield findings about one pair of neighbours on one tape."""
    first = RunTape(seed=_SEED)
    ours = _outcome(case, pair[0], first)
    second = RunTape(seed=_SEED, pinned=tuple(first.released))
    theirs = _outcome(case, pair[1], second)
    if ours.ended != theirs.ended:
        ends = f"{ours.ended or 'a result'} on one neighbour and with {theirs.ended or 'a result'} on the other"
        message = f"'{case.name}' ends with {ends}. Pair: {says.rstrip('.')}."
        yield Finding(rule="DPA221", where=case.name, message=message)
        return
    if not first.released:
        return
    broken = tuple(_structure(first, second))
    yield from broken
    if not broken:
        yield from shown_apart(ours, theirs, _again(case, pair, first), says)
    moves = moves_of(first, second, limits)
    looked.pairs += 1
    looked.moved += len(moves)
    looked.unknown += sum(move.distance is None for move in moves)
    for move in moves if says in case.attaining else ():
        looked.attaining[move.label] = max(looked.attaining.get(move.label, 0.0), move.distance or 0.0)
    yield from _named(too_far(moves), says)
    yield from _named(too_often(moves, limits, _streams(first)), says)
    if not broken and not ours.ended:
        yield from _differences(ours.published, theirs.published, _again(case, pair, first)[1], says)


def _again(case: ReplayCase, pair: tuple[Any, Any], first: RunTape) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return what runs both neighbours once more, with the releases of the first run."""

    def run(data: Any) -> Any:
        return case.run(data, RunTape(seed=_SEED, pinned=tuple(first.released)).generator(), _RUNS)

    return lambda: run(pair[0]), lambda: run(pair[1])


def _named(findings: Iterator[Finding], says: str) -> Iterator[Finding]:
    """Yield findings with the pair that showed them."""
    for finding in findings:
        yield Finding(rule=finding.rule, where=finding.where, message=f"{finding.message} Pair: {says.rstrip('.')}.")


def _outcome(case: ReplayCase, data: Any, tape: RunTape) -> Replay:
    """Return what a run published and showed, or the exception that ended it."""
    return replayed(lambda: case.run(data, tape.generator(), _RUNS))


def _streams(tape: RunTape) -> dict[str, int]:
    """Return, for each stream of sums, how many of its elements one record may move."""
    allowed: dict[str, int] = {}
    for release in tape.released:
        if release.element is not None:
            for label in release.labels:
                allowed[label] = len(getattr(release.mechanism, "signs", (1,)))
    return allowed


def _structure(first: RunTape, second: RunTape) -> Iterator[Finding]:
    """Yield a finding where the releases differ in label, order, mechanism, runs or shape."""
    for ours, theirs in zip(first.released, second.released, strict=False):
        if ours.labels != theirs.labels or not np.array_equal(ours.runs, theirs.runs):
            message = (
                f"'{ours.labels[0]}' is released with one data set ({ours.site}), '{theirs.labels[0]}' with the other "
                f"({theirs.site})."
            )
            yield Finding(rule="DPA221", where=ours.labels[0], message=message)
            return
        if ours.mechanism is not theirs.mechanism and not same(ours.mechanism, theirs.mechanism):
            yield Finding(
                rule="DPA222",
                where=ours.labels[0],
                message=f"'{ours.labels[0]}' has other noise with other data ({ours.site}).",
            )
            return
        if ours.value.shape != theirs.value.shape:
            message = (
                f"'{ours.labels[0]}' has shape {ours.value.shape} or {theirs.value.shape}, by the data ({ours.site})."
            )
            yield Finding(rule="DPA223", where=ours.labels[0], message=message)
            return
    if len(first.released) != len(second.released):
        counts = len(first.released), len(second.released)
        last = max(first.released, second.released, key=len)[min(counts)]
        message = (
            f"{counts[0]} releases with one data set, {counts[1]} with the other; '{last.labels[0]}' is one more "
            f"({last.site})."
        )
        yield Finding(rule="DPA221", where=last.labels[0], message=message)


def _differences(ours: Any, theirs: Any, repeat: Callable[[], Any], says: str) -> Iterator[Finding]:
    """Yield a finding for each published field that differs although every release was equal."""
    left, right = _fields(ours), _fields(theirs)
    if list(left) != list(right):
        yield Finding(rule="DPA224", where="fields", message=f"Other fields are published with other data ({says}).")
        return
    for name, value in left.items():
        if not same(value, right[name]):
            line = first_line(repeat, right[name], value)
            message = (
                f"'{name}' differs {_where(value, right[name])} although every release was equal: it reads data "
                f"outside the releases{f', first at {line}' if line else ''}. Pair: {says.rstrip('.')}."
            )
            yield Finding(rule="DPA224", where=name, message=message)


def _fields(published: Any) -> dict[str, Any]:
    """Return what is published by name."""
    return dict(published) if isinstance(published, Mapping) else {"output": published}


def _where(left: Any, right: Any) -> str:
    """Return the first place where two values differ, and by how much."""
    one, two = np.asarray(left), np.asarray(right)
    if one.shape != two.shape or one.dtype.kind not in "biuf":
        return f"in shape or type, {one.dtype}{one.shape} or {two.dtype}{two.shape}"
    apart = np.abs(one.astype(np.float64) - two.astype(np.float64))
    place = tuple(int(axis[0]) for axis in np.nonzero(~(apart == 0)))
    return f"at {place} by {float(apart[place]):.6g}" if place else "in a sign of 0"
