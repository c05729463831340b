"""The declaration of an algorithm: an immutable tree of releases and of the ways in which they compose.

    Release(label, mechanism)             one noisy answer
    Sequential(parts)  Repeat(part)       adaptive composition: later parts may look at earlier outputs
    Parallel(parts, key)                  one record touches one part, picked by `key`, never by its value
    Cells(inside, touched)                the record's value picks the cell; replacing it changes two
    Group(part, size)                     one person owns `size` records
    Subsample(part, rate, scheme)         the part sees a random sample of the records
    Shuffle(part, users)                  the reports of all users, each from the part, in a secret uniform order
    Filtered(parts, epsilon | rho | mu)   any of the parts, again and again, until a budget is spent
    Allocate(part, steps)                 a record is in some of `steps` runs of the part, at secret places
    PostProcess(part)  Billboard(part)  Local(part)     change who sees what, not the loss
    Stated(epsilon, delta, source)        somebody else's claim, taken on trust

Any node may carry `printed`: the theorem its paper used there, and the budget the paper assigned to it.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Literal, TypeAlias

from dpaudit.arguments import settled
from dpaudit.checks import (
    Count,
    FieldError,
    NonNegative,
    NonNegativeOrInfinite,
    OpenProbability,
    Positive,
    ProbabilityBelowOne,
    Share,
    TwoOrMore,
    settle,
)
from dpaudit.json_schema import Keywords, Text
from dpaudit.model.claim import Neighbours
from dpaudit.model.mechanism import Mechanism, is_mechanism

Scheme = Literal["poisson", "without_replacement", "truncated_poisson", "with_replacement"]

_NOT_GIVEN = float("nan")
"""The epsilon of a stated part that is given in rho or mu alone, known by identity: another NaN is refused."""

Positions = Literal["fresh", "repeated"]
"""Whether the steps of a record are drawn anew every epoch, or once for all epochs."""

RunLaw = Literal["fixed", "geometric", "logarithmic", "negative_binomial", "poisson"]
"""The law of the number of runs of which the best one is shown."""

BudgetHolder = Literal["run", "record"]
"""Whose budget it is: one of the whole run, or one of each record, that is left out once it cannot pay."""

KeyVisibility = Literal["public", "secret"]
"""Whether an adversary sees which part a record touches."""


_Names: TypeAlias = tuple[str, ...]


@settled
class Printed:
    """The theorem that a paper cites at a node, and the (epsilon, delta) it concludes there.

    `rule` names an entry of `dpaudit.rules`. `slots` is the number of parts the paper composed, which
    need not be whole (a logarithm, say) and need not be the number that the node has. `largest_epsilon` is the largest
    one that the paper states its argument for, where it states one.

    >>> Printed(rule="basic", epsilon=1.0, slots=4).delta
    0.0
    """

    rule: Text
    epsilon: NonNegative
    delta: ProbabilityBelowOne = 0.0
    slots: Positive | None = None
    largest_epsilon: Positive | None = None


@settled
class Release:
    """One noisy answer: a leaf, named by a label that a run's trace repeats.

    Parameters: `label` of the release, as in a run's trace; `mechanism`, the noise.

    >>> from mechanisms import Gaussian
    >>> noise = Gaussian(stddev=4.0, l2_sensitivity=1.0, neighbours="replace_one")
    >>> Release(label="sums", mechanism=noise).mechanism.noise_multiplier
    4.0
    """

    label: str
    mechanism: Mechanism
    printed: Printed | None = None

    def __post_init__(self) -> None:
        if not str(self.label).strip():
            raise ValueError(f"Expected label={self.label!r} to name the release.")
        if isinstance(self.mechanism, type):
            name = self.mechanism.__name__
            raise ValueError(f"Expected mechanism={name} to be made, with its parameters: {name}(...).")
        if not is_mechanism(self.mechanism):
            raise ValueError(f"Expected mechanism={self.mechanism!r} to be a mechanism, as in `mechanisms`.")


@settled
class Sequential:
    """Parts released one after another; each may be chosen by looking at the outputs before it.

    Parameters: `parts` in order, at least one.

    >>> told = Stated(epsilon=0.5, source="a supplier")
    >>> len(Sequential(parts=(told, told)).parts)
    2
    """

    parts: Annotated["tuple[Declaration, ...]", Keywords({"minItems": 1})]
    printed: Printed | None = None

    def __post_init__(self) -> None:
        _require_parts("Sequential", self.parts)


@settled
class Repeat:
    """One part released `times` times with fresh noise; each time may depend on the outputs before it.

    Parameters: `part` that is repeated; `times`, how often.

    >>> Repeat(part=Stated(epsilon=0.1, source="a supplier"), times=12).times
    12
    """

    part: "Declaration"
    times: Count
    printed: Printed | None = None


@settled
class Filtered:
    """Parts that are released again and again, each picked from the outputs before it, until a budget is spent.

    Parameters: `parts`, of which each step may be any, with noise of any scale; exactly one of `epsilon`, `rho` and
    `mu`, what all steps together may cost in pure, concentrated or Gaussian differential privacy (mu adds up in
    squares); `per`, whose budget it is. No part need be released, and none costs more than what is left.
    The budget of a "run" pays for each step what the step costs at worst over all neighbours. Each "record" has a
    budget of its own, pays for a step what the step may learn of this record, and is left out of it without notice
    where it cannot pay; such a budget is about a record's presence alone.
    Side-conditions: what a step costs is settled by its noise; see the conditions of a filter, and for those of records
    `dpaudit.budgets.individual`.
    Guarantee: the limit holds as for steps that are fixed in advance. No pair is known to spend the budget, so that
    nothing is known from below.
    Source: Bun and Steinke (2016), Lemma 1.7; Feldman and Zrnic (2021), Theorem 3.1, and Whitehouse et al. (2023),
    Theorem 1, for costs that follow the outputs; Koskela, Tobaben and Honkela (2023), for mu.

    >>> told = Stated(epsilon=0.1, source="a supplier")
    >>> Filtered(parts=(told,), rho=0.5).budget
    ('rho', 0.5)
    """

    parts: Annotated["tuple[Declaration, ...]", Keywords({"minItems": 1})]
    epsilon: NonNegative | None = None
    rho: NonNegative | None = None
    mu: NonNegative | None = None
    per: BudgetHolder = "run"
    printed: Printed | None = None

    def __post_init__(self) -> None:
        _require_parts("Filtered", self.parts)
        settle(self)
        given = [name for name in ("epsilon", "rho", "mu") if getattr(self, name) is not None]
        if len(given) != 1:
            got = " and ".join(given) or "none"
            raise FieldError(
                given[-1] if given else "rho", f"Expected one of epsilon, rho and mu of a budget, got {got}."
            )

    @property
    def budget(self) -> tuple[str, float]:
        """The measure in which steps pay, and the limit."""
        told = ((name, getattr(self, name)) for name in ("epsilon", "rho", "mu"))
        return next((name, limit) for name, limit in told if limit is not None)

    @property
    def said(self) -> str:
        """What adds up, and to how much at most, as the conditions of a budget say it."""
        measure, limit = self.budget
        return f"{'the square of ' * (measure == 'mu')}{measure} {limit}"


@settled
class Parallel:
    """Parts of which a record touches one; `key` says in words what decides which.

    Parameters: `parts`, of which a record touches one.
    Side-condition: the key is drawn or known without the record's own value (an arrival time, a phase, an arm
    already shown); where the value decides, use `Cells`. `visibility` is "secret" where nobody sees the key (a
    shuffled order): no amplification is credited for it, and no lower bound is known either.
    Raises: ValueError: no parts, or a key that is empty or says that it is the record's value.
    Source: McSherry (2009), Theorem 4, for fixed keys; for keys chosen by the public view, condition on
    the view's prefix and use joint convexity of the hockey-stick divergence.

    >>> north, south = Stated(epsilon=0.5, source="the north"), Stated(epsilon=0.7, source="the south")
    >>> Parallel(parts=(north, south), key="the region in which a person is registered").key
    'the region in which a person is registered'
    """

    parts: Annotated["tuple[Declaration, ...]", Keywords({"minItems": 1})]
    key: Text
    visibility: KeyVisibility = "public"
    printed: Printed | None = None

    def __post_init__(self) -> None:
        _require_parts("Parallel", self.parts)
        settle(self)
        if not self.key.strip():
            raise FieldError("key", "Expected key to say what decides the part a record touches; it is empty.")
        if _OWN_VALUE.search(self.key):
            raise FieldError(
                "key",
                f"Expected key={self.key!r} to be decided by something else than the record's value; declare 'cells' "
                "where the value picks the part.",
            )


@settled
class Cells:
    """An array of cells of which the record's value picks one; every other cell gets noise only.

    `inside` is the loss when both records lie in the same cell, with the claim's neighbours; `touched` is
    the loss at one cell of a record against none, so its mechanisms are stated for `add_remove`. Replacing
    a record may empty one cell and fill another: `touched` is then met twice.

    >>> from dpaudit import Claim, certify
    >>> from mechanisms import Laplace
    >>> inside = Laplace(scale=2.0, l1_sensitivity=1.0, neighbours="replace_one")
    >>> touched = Laplace(scale=2.0, l1_sensitivity=1.0, neighbours="add_remove")
    >>> bins = Cells(inside=Release(label="bins", mechanism=inside), touched=Release(label="bins", mechanism=touched))
    >>> certify(bins, Claim(epsilon=1.0, neighbours="replace_one")).verdict
    'certified'
    """

    inside: "Declaration"
    touched: "Declaration"
    printed: Printed | None = None


@settled
class Group:
    """A part of which one person owns up to `size` records.

    Parameters: `part`, stated for one record.

    >>> Group(part=Stated(epsilon=0.1, source="a supplier"), size=3).size
    3
    """

    part: "Declaration"
    size: Count
    printed: Printed | None = None


@settled
class Subsample:
    """A part that sees a random sample: each record with probability `rate`, or a set of fixed size.

    Parameters: `part` that sees the sample; `rate`, with which a record is in the sample; `scheme`, how it is drawn;
    `population`, the number of records; `batch_size`, the number of draws; `batch_bound`, the largest sample.
    Schemes: "poisson"; "without_replacement", a uniform set of `batch_size` out of `population` records, or of `rate`
    times all records where both sizes are left out, as they may be unless records are removed (one size alone is
    refused); "truncated_poisson" on `population` records, of a Poisson sample above `batch_bound` records a uniform
    subset of that many; and "with_replacement", `batch_size` draws from `population` records. With both sizes, `rate`
    is the number next to their ratio. Of two neighbours the larger has `population` records.
    The relation that the part is stated for follows from that of the whole, see `relation_inside`. Its sensitivity
    counts as attained beside nothing, and beside copies of one record; other records are named by a run, or assumed.
    Edge cases: at rate 0 no record is ever in the sample, so that nothing is released about anybody; at rate 1 a
    Poisson sample and a uniform set hold every record.
    Raises: ValueError: a rate outside [0, 1], a size that the scheme lacks or does not know, or that contradicts it.

    >>> from mechanisms import Gaussian
    >>> noise = Gaussian(stddev=1.1, l2_sensitivity=1.0, neighbours="add_remove")
    >>> Subsample(part=Release(label="gradient", mechanism=noise), rate=0.01).scheme
    'poisson'
    """

    part: "Declaration"
    rate: Share
    scheme: Scheme = "poisson"
    population: Count | None = None
    batch_size: Count | None = None
    batch_bound: Count | None = None
    printed: Printed | None = None

    def __post_init__(self) -> None:
        settle(self)
        needed, accepted = _SIZES_OF[self.scheme]
        _require_given(self, f"scheme={self.scheme!r}", _SIZES, needed, accepted)
        if self.scheme == "without_replacement" and (self.population is None) != (self.batch_size is None):
            given, missing = ("population", "batch_size") if self.batch_size is None else ("batch_size", "population")
            raise FieldError(
                missing,
                f"Expected {missing} beside {given}={getattr(self, given)}: a batch is a whole number of records. Give "
                "both, or a rate alone.",
            )
        if self.population and self.batch_size and self.batch_size / self.population != self.rate:
            raise FieldError(
                "rate",
                f"Expected rate={self.rate} to be batch_size / population, the number next to {self.batch_size} / "
                f"{self.population}, which is {self.batch_size / self.population!r}.",
            )


@settled
class Allocate:
    """A part run `steps` times an epoch, in which a record takes part `per_epoch` times, at secret places of its own.

    Parameters: `part`, one step; `steps` of an epoch; `epochs`, their number; `per_epoch`, how many steps of an epoch
    use the record; `positions` "fresh" in every epoch, or "repeated" from the first one.
    Side-condition: the places are uniform, and independent of the records and of the places of others (balls in bins).
    Shuffled batches of a fixed size are not this: there the places of others depend on the record's.
    The relation that the part is stated for follows from that of the whole, see `relation_inside`.
    Raises: ValueError: a count below 1, or more places an epoch than steps.
    Source: Chua et al. (2024), balls in bins; Feldman and Shenfeld (2025), random allocation.

    >>> from mechanisms import Gaussian
    >>> noise = Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="add_remove")
    >>> Allocate(part=Release(label="gradient", mechanism=noise), steps=100, epochs=3).positions
    'fresh'
    """

    part: "Declaration"
    steps: Count
    epochs: Count = 1
    per_epoch: Count = 1
    positions: Positions = "fresh"
    printed: Printed | None = None

    def __post_init__(self) -> None:
        settle(self)
        if self.per_epoch > self.steps:
            raise FieldError("per_epoch", f"Expected per_epoch={self.per_epoch} to be at most steps={self.steps}.")


@settled
class Shuffle:
    """The reports of `users` users in a secret uniform order; each user's report is the part, on that user's own data.

    Parameters: `part`, one user's report; `users`, their number.
    The part must be one randomiser, the same for every user: releases, and what composes them within one report. It
    protects whoever sees the shuffled reports only, so that the view is the central one.
    Raises: ValueError: fewer than one user, a part that depends on the user (cells, parallel parts, samples, groups,
        billboards), or a stated report with a delta above 0 or an infinite epsilon.

    >>> from mechanisms import RandomisedResponse
    >>> report = Release(label="answer", mechanism=RandomisedResponse(epsilon=1.0))
    >>> Shuffle(part=report, users=10_000).users
    10000
    """

    part: "Declaration"
    users: Count
    printed: Printed | None = None

    def __post_init__(self) -> None:
        settle(self)
        for _, node in walk(self.part):
            if not isinstance(node, Release | Sequential | Repeat | PostProcess | Local | Stated):
                raise FieldError(
                    "part",
                    f"Expected part to be one randomiser, the same for every user; a {type(node).__name__} inside may "
                    "depend on the user. Shuffle the reports of each kind of users apart.",
                )
            if isinstance(node, Stated) and (node.delta > 0 or node.epsilon == float("inf")):
                told = f"delta={node.delta}" if node.delta else f"epsilon={node.epsilon}"
                raise FieldError("part", f"Expected a report of a finite, pure epsilon; {node.source!r} states {told}.")


Scores = Literal["named", "any", "any_setting"]
"""Whether the author's score is meant, or whoever runs a `BestOf` picks the score, and the settings of runs as well."""


@settled
class BestOf:
    """The output with the best score among independent runs of a part, whose number is drawn from a public law.

    Parameters: `part`, one run; `law` of the number of runs: "fixed" with `runs`; "geometric", "logarithmic" and
    "negative_binomial" with `gamma`, and `eta` for the last (1 and 0 for the two others), at least one run; "poisson"
    with `mean`, where nothing is shown of no run. `scores` are "named" where the author's score compares runs, in words
    `score`; "any" where whoever runs the part picks it; "any_setting" where they pick settings as well, of which each
    run draws one anew, by a public law, and shows it. Every score has the same bound, which that of an author need not
    attain, so that it refutes no claim; of any score the worst one counts.
    Side-conditions: a run's score is computed from its output alone, ties are broken by fresh coins, no run looks at
    another one, and the number of runs and the other outputs stay secret. Where all runs are shown, use `Repeat`; of a
    grid whose configurations are run once each, `Sequential`.
    Raises: ValueError: a parameter that the law needs and lacks, or does not know.
    Source: Liu and Talwar (2019); Papernot and Steinke (2022).

    >>> BestOf(part=Stated(epsilon=1.0, source="a supplier"), law="geometric", gamma=0.1).law
    'geometric'
    """

    part: "Declaration"
    law: RunLaw
    runs: TwoOrMore | None = None
    gamma: OpenProbability | None = None
    eta: NonNegative | None = None
    mean: Positive | None = None
    score: str = ""
    scores: Scores = "named"
    printed: Printed | None = None

    def __post_init__(self) -> None:
        settle(self)
        needed = _PARAMETERS_OF[self.law]
        _require_given(self, f"law={self.law!r}", ("runs", "gamma", "eta", "mean"), needed, needed)
        if self.score and self.scores != "named":
            raise FieldError("score", f"Expected score={self.score!r} to be left out for scores={self.scores!r}.")


@settled
class PostProcess:
    """A part followed by `steps` that never look at the data again.

    Parameters: `part` that reads the data.

    >>> PostProcess(part=Stated(epsilon=0.1, source="a supplier"), steps=("rounding",)).steps
    ('rounding',)
    """

    part: "Declaration"
    steps: tuple[str, ...] = ()
    printed: Printed | None = None


@settled
class Billboard:
    """A part shown to everybody, which each user combines with `reads`, their own data: joint privacy.

    Parameters: `part` that everybody sees.
    Raises: ValueError: a read that says that it is other users' data.
    Source: Hsu, Huang, Roth, Roughgarden and Wu (2014), Lemma 9 (the billboard lemma).

    >>> Billboard(part=Stated(epsilon=0.1, source="a supplier"), reads=("their own context",)).reads
    ('their own context',)
    """

    part: "Declaration"
    reads: tuple[str, ...] = ()
    printed: Printed | None = None

    def __post_init__(self) -> None:
        for read in self.reads:
            if _OTHER_USERS.search(read):
                raise FieldError(
                    "reads",
                    f"Expected reads={read!r} to be a user's own data; what is read of other users belongs into a "
                    "release of the billboard.",
                )


@settled
class Local:
    """What one user's own message goes through before anybody sees it; one message a user.

    Parameters: `part`, the noise of one message.

    >>> Local(part=Stated(epsilon=1.0, source="a telephone's maker")).printed is None
    True
    """

    part: "Declaration"
    printed: Printed | None = None

    def __post_init__(self) -> None:
        if any(isinstance(node, Shuffle) for _, node in walk(self.part)):
            raise FieldError("part", "Expected part to be one user's own message; a shuffle holds those of all users.")


@settled
class Stated:
    """Somebody else's (epsilon, delta), rho or mu, taken on trust: an upper bound with nothing known below it.

    Parameters: `epsilon` in nats; `delta`, a probability; `rho` and `mu`, of concentrated and of Gaussian privacy;
    `source`, whose claim this is. Exactly one of `epsilon`, `rho` and `mu` is needed; without `epsilon` it is infinite.
    On a sample nothing follows from a rho, and mu counts as Gaussian noise does.
    `neighbours` is the relation that the source states it for; without one, that it is the claim's is an
    assumption, and listed as such.
    Edge cases: of an infinite epsilon (`inf`) nothing is proved at any delta below 1.

    >>> Stated(epsilon=1, delta=1e-6, source="a supplier's data sheet").epsilon
    1.0
    """

    epsilon: NonNegativeOrInfinite = _NOT_GIVEN
    delta: ProbabilityBelowOne = 0.0
    rho: NonNegative | None = None
    mu: NonNegative | None = None
    source: Text
    neighbours: Neighbours | None = None
    printed: Printed | None = None

    def __post_init__(self) -> None:
        told = [name for name in ("rho", "mu") if getattr(self, name) is not None]
        if self.epsilon is not _NOT_GIVEN and not (told and self.epsilon == math.inf):
            told.append("epsilon")
        if len(told) != 1:
            got = " and ".join(told) or "none"
            raise FieldError(
                told[-1] if told else "epsilon",
                f"Expected one of epsilon, rho and mu of a stated part, got {got}: what does its source state?",
            )
        if self.epsilon is _NOT_GIVEN:
            object.__setattr__(self, "epsilon", math.inf)
        settle(self)
        if not self.source.strip():
            raise ValueError("Expected source to say whose claim this is; it is empty.")


_SIZES = ("population", "batch_size", "batch_bound")

_SIZES_OF: dict[Scheme, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "poisson": ((), ()),
    "without_replacement": ((), ("population", "batch_size")),
    "truncated_poisson": (("population", "batch_bound"), ("population", "batch_bound")),
    "with_replacement": (("population", "batch_size"), ("population", "batch_size")),
}
"""The sizes that each scheme needs, and those that it knows."""

_PARAMETERS_OF: dict[RunLaw, _Names] = {
    "fixed": ("runs",),
    "geometric": ("gamma",),
    "logarithmic": ("gamma",),
    "negative_binomial": ("gamma", "eta"),
    "poisson": ("mean",),
}
"""The parameters of each law of a number of runs."""

_OWN_VALUE = re.compile(
    r"\b(?:(?:record|row)(?:'s|s')?(?: own)?|its(?: own)?|own) values?\b|\bvalues? of the record\b", re.I
)
"""How a key says that the record's own value decides."""

_OTHER_USERS = re.compile(r"\b(?:other (?:users?|people|persons?|records?)|everybody|all (?:users|records))\b", re.I)
"""How a read says that it is not a user's own data."""

Declaration: TypeAlias = (
    Release
    | Sequential
    | Repeat
    | Filtered
    | Parallel
    | Cells
    | Group
    | Subsample
    | Shuffle
    | Allocate
    | BestOf
    | PostProcess
    | Billboard
    | Local
    | Stated
)


def _require_parts(node: str, parts: object) -> None:
    """Refuse anything but a non-empty tuple, so that a node cannot change under its reader."""
    if not isinstance(parts, tuple) or not parts:
        raise ValueError(f"Expected {node}(parts=...) to be a non-empty tuple of declarations: {node}(parts=(a, b)).")


def _require_given(node: object, law: str, names: _Names, needed: _Names, accepted: _Names) -> None:
    """Refuse a node without a parameter that its law needs, and with one that the law does not know."""
    for name in names:
        value = getattr(node, name)
        if value is None and name in needed:
            raise FieldError(name, f"Expected {name} to be given for {law}.")
        if value is not None and name not in accepted:
            raise FieldError(name, f"Expected {name}={value} to be left out for {law}.")


def children(node: Declaration) -> tuple[Declaration, ...]:
    """Return the parts of `node`, in order; a leaf has none."""
    match node:
        case Release() | Stated():
            return ()
        case Sequential(parts=parts) | Filtered(parts=parts) | Parallel(parts=parts):
            return parts
        case Cells(inside=inside, touched=touched):
            return (inside, touched)
        case _:
            return (node.part,)


def with_children(node: Declaration, parts: tuple[Declaration, ...]) -> Declaration:
    """Return `node` with `parts` in place of its own, in the order of `children`."""
    match node:
        case Release() | Stated():
            return node
        case Sequential() | Filtered() | Parallel():
            return replace(node, parts=parts)
        case Cells():
            return replace(node, inside=parts[0], touched=parts[1])
        case _:
            return replace(node, part=parts[0])


def walk(node: Declaration, path: str = "root") -> Iterator[tuple[str, Declaration]]:
    """Yield (path, node) for the whole tree, parents first; paths name nodes in messages and tables.

    The path of a child adds its place, from 0: `root`, `root.0`, `root.0.2`.
    """
    yield path, node
    for number, child in enumerate(children(node)):
        yield from walk(child, f"{path}.{number}")


def scaled(node: Declaration, factor: float) -> Declaration:
    """Return the same tree with `factor` times the noise in every release."""
    return _scaled(node, factor, {})


def _scaled(node: Declaration, factor: float, done: dict[int, Mechanism]) -> Declaration:
    """Return the same for a part; `done` holds by identity what is scaled already, as many releases share one."""
    if isinstance(node, Release):
        mechanism = node.mechanism
        if id(mechanism) not in done:
            done[id(mechanism)] = mechanism.scaled(factor)
        return Release(label=node.label, mechanism=done[id(mechanism)], printed=node.printed)
    return with_children(node, tuple(_scaled(child, factor, done) for child in children(node)))
