"""The trace of a run: what it released, and findings where its declaration does not admit it, without statistics."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dpaudit.checks import meant
from dpaudit.model.declaration import Cells, Declaration, Filtered, Release, Repeat, children, walk
from dpaudit.model.mechanism import Array, Mechanism
from dpaudit.model.tape import released_on_tape

_FINGERPRINT_LENGTH = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """One line of a trace: `mechanism` was sampled `times` times a run under `label`.

    `fingerprint` identifies the noise up to its scale: two releases with one fingerprint share their noise. Below
    budgets of records `paid` has the rho that each record paid for it, by the record's name; who is left out pays 0.

    >>> from mechanisms import Laplace
    >>> Released(label="count", mechanism=Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove")).times
    1
    """

    label: str
    mechanism: Mechanism
    times: int = 1
    fingerprint: tuple[float, ...] | None = None
    paid: Mapping[str, Fraction] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something wrong that needs no statistics: a stable rule id, where, and what, in a sentence.

    >>> Finding(rule="DPA213", where="count", message="'count' was declared but never released.").rule
    'DPA213'
    """

    rule: str
    where: str
    message: str


@dataclass(slots=True)
class Recorder:
    """Samples mechanisms on behalf of one run and writes down what it sampled.

    `people` holds the numbers of the people whose records entered, one range for each use, where a run keeps them.
    `published`, where it is given, takes what was released under each label, in order: an audit looks at it.

    >>> from mechanisms import Laplace
    >>> recorder = Recorder(np.random.default_rng(0))
    >>> noise = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove")
    >>> recorder.release("count", noise, np.array([10.0, 20.0])).shape
    (2,)
    >>> [line.label for line in recorder.trace()]
    ['count']
    >>> keeping = Recorder(np.random.default_rng(0), published={})
    >>> keeping.release("count", noise, np.array([10.0, 20.0])) is keeping.published["count"][0]
    True
    """

    rng: np.random.Generator
    released: list[Released] = field(default_factory=list)
    people: list[range] = field(default_factory=list)
    published: dict[str, list[Array]] | None = None

    def release(
        self,
        label: str,
        mechanism: Mechanism,
        value: Array,
        times: int = 1,
        paid: Mapping[str, Fraction] | None = None,
    ) -> Array:
        """Return `mechanism.release(value)`, recorded under `label`; `times` counts releases in one run."""
        output = released_on_tape(label, mechanism, value, self.rng)
        self.record(label, mechanism, value, output, times, paid)
        if self.published is not None:
            self.published.setdefault(label, []).append(output)
        return output

    def release_of_others(self, label: str, mechanism: Mechanism, value: Array) -> Array:
        """Return `mechanism.release(value)` of further people whose release the trace counts once, as the first one's.

        A tape writes it down all the same.
        """
        return released_on_tape(label, mechanism, value, self.rng)

    def record(
        self,
        label: str,
        mechanism: Mechanism,
        value: Array,
        output: Array,
        times: int = 1,
        paid: Mapping[str, Fraction] | None = None,
    ) -> None:
        """Write down that `output` is a release of `value` that was sampled elsewhere, as by a tree's counter.

        Both may be the first elements only: they serve to tell whose noise it is.
        """
        line = Released(
            label=label, mechanism=mechanism, times=times, fingerprint=_fingerprint(output, value), paid=paid
        )
        self.released.append(line)

    def trace(self) -> tuple[Released, ...]:
        """Return everything recorded so far, in order."""
        return tuple(self.released)


def admit(declaration: Declaration, trace: tuple[Released, ...]) -> tuple[Finding, ...]:
    """Return what `trace` did that `declaration` does not admit; empty means that they agree.

    Rules: `DPA212` other noise or sensitivity than declared, `DPA213` a release that is undeclared, missing or made
    another number of times, `DPA227` the same noise under two labels, `DPA228` a record that paid more than its own
    budget holds. Equal findings are one. A budget admits any number of its releases with any noise; that they stay
    within it is a condition, `within_limit`. Budgets of records ask each release what each record paid, exactly; that
    a record paid for all that its presence changes is the condition `own_costs`.

    >>> from dpaudit import Release
    >>> from mechanisms import Laplace
    >>> noise = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove")
    >>> declared = Release(label="count", mechanism=noise)
    >>> [finding.rule for finding in admit(declared, (Released(label="count", mechanism=noise, times=2),))]
    ['DPA213']
    >>> half = Released(label="count", mechanism=noise.scaled(0.5), times=1)
    >>> [finding.rule for finding in admit(declared, (half, half))]
    ['DPA212', 'DPA213']
    """
    declared: dict[str, list[Mechanism]] = {}
    expected: Counter[str] = Counter()
    for label, mechanism, times_declared in _leaves(declaration):
        declared.setdefault(label, []).append(mechanism)
        expected[label] += times_declared
    within = {
        release.label for _, node in walk(declaration) if isinstance(node, Filtered) for release in _releases(node)
    }
    times: Counter[str] = Counter()
    findings: list[Finding] = []
    for released in trace:
        if released.label in within:  # the budget's, unless it has the noise of the release beside it
            times[released.label] += released.times * (released.mechanism in declared.get(released.label, ()))
            continue
        times[released.label] += released.times
        if released.label not in declared:
            findings.append(_finding("DPA213", released.label, "was released but never declared"))
        elif released.mechanism not in declared[released.label]:
            message = f"ran {released.mechanism}, declared {declared[released.label][0]}"
            findings.append(_finding("DPA212", released.label, message))
    for label, expected_times in expected.items():
        if times[label] == 0:
            findings.append(_finding("DPA213", label, "was declared but never released"))
        elif times[label] != expected_times and (label not in within or times[label] < expected_times):
            message = f"was released {times[label]} times a run, declared {expected_times}"
            findings.append(_finding("DPA213", label, message))
    return tuple(dict.fromkeys((*findings, *_reused(trace), *_overspent(declaration, trace))))


def _leaves(node: Declaration, times: int = 1) -> Iterator[tuple[str, Mechanism, int]]:
    """Yield (label, mechanism, number of releases) for every leaf that is sampled.

    Both parts of a cell array describe the same noise; a run samples it as `inside` states it.
    """
    if isinstance(node, Filtered):
        return
    if isinstance(node, Release):
        yield node.label, node.mechanism, times
    for child in children(node)[:1] if isinstance(node, Cells) else children(node):
        yield from _leaves(child, times * node.times if isinstance(node, Repeat) else times)


def _releases(node: Declaration) -> Iterator[Release]:
    """Yield the releases below a node."""
    yield from (inner for _, inner in walk(node) if isinstance(inner, Release))


def _own_budgets(node: Declaration, times: int = 1) -> Iterator["LabelledBudget"]:
    """Yield each budget of records."""
    if isinstance(node, Filtered) and node.per == "record":
        yield LabelledBudget.of(node, times)
    for child in children(node):
        yield from _own_budgets(child, times * node.times if isinstance(node, Repeat) else times)


class LabelledBudget(NamedTuple):
    """A budget: the labels of the releases that it pays for, its measure, and what it holds, of mu in squares."""

    labels: frozenset[str]
    measure: str
    limit: Fraction

    @classmethod
    def of(cls, node: Filtered, times: int) -> "LabelledBudget":
        """Return what a node holds so many times."""
        measure, limit = node.budget
        amount = meant(limit) ** 2 if measure == "mu" else meant(limit)
        return cls(frozenset(release.label for release in _releases(node)), measure, times * amount)


def joined_budgets(budgets: Iterable[LabelledBudget]) -> list[LabelledBudget]:
    """Return budgets, of which those of one measure that share a label are one, of their sum.

    >>> joined = joined_budgets(LabelledBudget(frozenset(labels), "rho", Fraction(1)) for labels in ("ab", "cd", "bc"))
    >>> [(sorted(budget.labels), budget.limit) for budget in joined]
    [(['a', 'b', 'c', 'd'], Fraction(3, 1))]
    """
    joined: list[LabelledBudget] = []
    for labels, measure, limit in budgets:
        shared = [other for other in joined if other.labels & labels and other.measure == measure]
        joined = [other for other in joined if other not in shared]
        among = labels.union(*(other.labels for other in shared))
        joined.append(LabelledBudget(among, measure, sum((other.limit for other in shared), start=limit)))
    return joined


def _overspent(declaration: Declaration, trace: tuple[Released, ...]) -> Iterator[Finding]:
    """Yield a finding for each release that nobody paid for, and for the first record that overspent a budget.

    Budgets that share a label are one, of their sum, for the releases of all their labels.
    """
    budgets = joined_budgets(_own_budgets(declaration))
    shared = Counter(label for budget in budgets for label in budget.labels)
    for label in sorted(label for label, times in shared.items() if times > 1):
        yield _finding("DPA228", label, "is paid for in two measures, and nothing says in which a record paid")
    for among, measure, limit in budgets:
        spent: dict[str, Fraction] = defaultdict(Fraction)
        for released in (line for line in trace if line.label in among):
            if released.paid is None:
                yield _finding("DPA228", released.label, "was released, and nothing says what each record paid for it")
            for name, price in (released.paid or {}).items():
                spent[name] += price
        over = next((name for name, total in spent.items() if total > limit), None)
        if over is not None:
            cost = {"epsilon": "an epsilon", "rho": "a rho", "mu": "a squared mu"}[measure]
            text = f"cost the record {over!r} {cost} of {float(spent[over]):.6g}, of its own {float(limit):.6g}"
            yield _finding("DPA228", ", ".join(sorted(among)), text)


def _reused(trace: tuple[Released, ...]) -> Iterator[Finding]:
    """Yield a finding for each release whose noise was seen before."""
    seen: dict[tuple[float, ...], str] = {}
    for released in trace:
        if released.fingerprint is None:
            continue
        if released.fingerprint in seen:
            message = f"carries the noise of '{seen[released.fingerprint]}' again"
            yield _finding("DPA227", released.label, message)
        seen.setdefault(released.fingerprint, released.label)


def _finding(rule: str, label: str, message: str) -> Finding:
    """Return a finding about one label."""
    return Finding(rule=rule, where=label, message=f"'{label}' {message}.")


def _fingerprint(output: Array, value: Array) -> tuple[float, ...] | None:
    """Return the direction of the first few noise values, or None where noise is no difference of floats."""
    if output.shape != np.shape(value) or not np.issubdtype(output.dtype, np.floating):
        return None
    noise = (output - value).reshape(-1)[:_FINGERPRINT_LENGTH]
    norm = float(np.linalg.norm(noise))
    if noise.size < 2 or not 0 < norm < np.inf:
        return None
    return tuple(float(x) for x in np.round(noise / norm, 6))
