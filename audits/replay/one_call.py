"""One call of a function on a fixed stream: its output as columns, its draws, what it shows beside, and its lines."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import FrameType
from typing import Any

import numpy as np

from audits.experiment.channels import shown_beside
from audits.experiment.lines_run import lines_run
from audits.experiment.tracer import run_traced
from audits.outputs.calls import Raised, outcome, row_of
from audits.outputs.fields import NUMBER, Fields, absent
from audits.replay.recording import ADDITIVE, CARRIERS, WHOLE, Draw, Pin, Recorder
from dpaudit.model.case import Run
from dpaudit.model.mechanism import Array

QUIET = 7_103
"""The stream of calls without noise; it matters to draws of other laws alone."""

MOST_NUMBERS = 512
"""Of an array, so many numbers are looked at one by one."""


LOST = 50.0


@dataclass(frozen=True, kw_only=True, eq=False)  # without slots: properties of long outputs are computed once
class Call:
    """What one call on the stream of `seed` returned and drew. `returned` is the output itself, or `Raised`."""

    seed: tuple[int, ...]
    returned: Any
    columns: dict[str, float]
    draws: tuple[Draw, ...]
    channels: dict[str, Any] = field(default_factory=dict[str, Any])
    lines: frozenset[tuple[str, int]] = frozenset()

    @property
    def raised(self) -> str:
        """The name of the exception that ended the call; empty where it returned."""
        return self.returned.exception if isinstance(self.returned, Raised) else ""

    def column(self, name: str) -> float:
        """Return the value of a column, or the one that stands for a column that the output does not have."""
        return self.columns.get(name, absent(name))

    @cached_property
    def numbers(self) -> dict[str, float]:
        """The numbers of the output by name."""
        return {name: value for name, value in self.columns.items() if name.startswith(NUMBER)}

    @cached_property
    def form(self) -> dict[str, float]:
        """All of the output but the values of its numbers: names, types, shapes, categories, which numbers are NaN."""
        return {name: np.isnan(value) if name.startswith(NUMBER) else value for name, value in self.columns.items()}

    @property
    def facts(self) -> dict[Any, Any]:
        """Outcome, form, draws with their scales, and lines, by name: alike where the data tell nothing."""
        draws = [(draw.law, len(draw.noise), draw.scale.tobytes(), draw.site) for draw in self.draws]
        return {"raised": self.raised, **self.form, "draws": draws, **dict.fromkeys(self.lines, True)}

    @property
    def traits(self) -> frozenset[tuple[int, Hashable]]:
        """What the call shows, with ranks: its outcome, lines, draws, and the form of its output."""
        draws = tuple((draw.law, len(draw.noise), draw.site) for draw in self.draws)
        form = {name: bool(value) if name.startswith(NUMBER) else value for name, value in self.form.items()}
        return frozenset(
            {(0, self.raised), (2, draws), *((1, line) for line in self.lines), *((3, x) for x in form.items())}
        )

    @property
    def measures(self) -> dict[str, float]:
        """The numbers of the output, and the largest scale of each draw of noise."""
        scales = {f"scale of draw {at}": draw.scale.max() for at, draw in enumerate(self.draws) if draw.scale.size}
        return dict(list((self.numbers | scales).items())[:MOST_NUMBERS])

    @cached_property
    def noise(self) -> Array:
        """The standard noise of all additive draws, in their order."""
        return np.concatenate([np.zeros(0), *(draw.noise for draw in self.draws)])

    @cached_property
    def scales(self) -> Array:
        """The scales of all additive draws, in their order."""
        return np.concatenate([np.zeros(0), *(draw.scale for draw in self.draws)])

    def law_of(self, index: int) -> str:
        """Return the law of an additive draw by its place among all; empty where the call draws fewer."""
        laws = [draw.law for draw in self.draws for _ in draw.noise]
        return laws[index] if index < len(laws) else ""

    @cached_property
    def noise_by_site(self) -> dict[tuple[str, str], Array]:
        """The standard noise of additive draws by their law and the line of code that asked, in order at each line."""
        noise_of: dict[tuple[str, str], list[Array]] = {}
        for draw in self.draws:
            if len(draw.noise):
                noise_of.setdefault((draw.law, draw.site), []).append(draw.noise)
        return {site: np.concatenate(noise) for site, noise in noise_of.items()}

    @cached_property
    def weighed(self) -> dict[int, Draw]:
        """The choices and whole numbers whose probabilities are known, by their place among all draws."""
        return {index: draw for index, draw in enumerate(self.draws) if draw.picked is not None}

    @property
    def log_chance(self) -> float:
        """The log probability of all choices and whole numbers."""
        return sum(draw.log_chance for draw in self.draws)

    def loss_of_choices(self, other: "Call") -> float:
        """Return how far log probabilities of choices differ, at most and in all, from those of another call.

        Of whole numbers those that were drawn count. A share of the probability whose values the other call does not
        choose among counts fifty times.
        """
        loss = 0.0
        for ours, theirs in ((draw, other.weighed[at]) for at, draw in self.weighed.items() if at in other.weighed):
            if not len(ours.values):
                loss += abs(ours.log_chance - theirs.log_chance)
                continue
            _, here, there = np.intersect1d(ours.values, theirs.values, assume_unique=True, return_indices=True)
            with np.errstate(divide="ignore", invalid="ignore"):
                ratios = np.abs(np.log(ours.chances[here]) - np.log(theirs.chances[there]))
            lost = max(1 - float(choice.chances[shared].sum()) for choice, shared in ((ours, here), (theirs, there)))
            loss += float(np.nanmax(ratios, initial=0.0)) + LOST * lost
        return loss

    @property
    def only_additive(self) -> bool:
        """Whether every draw is one of additive noise."""
        return all(draw.law in (*ADDITIVE, *WHOLE) for draw in self.draws)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Player:
    """Calls `run` on data sets; every call on one seed draws equal numbers. A run may take `seconds`.

    Columns named in `without` are left out of every call. `usual` says how often a line may draw without noise.
    """

    run: Run
    seconds: float | None = None
    without: frozenset[str] = frozenset()
    usual: Mapping[str, int] = field(default_factory=dict[str, int])

    def frames(self, data: Any, *seed: int) -> int:
        """Return how many Python functions one call enters beside those that draw: tracing can cost more than it."""
        entered = list[None]()

        def count(frame: FrameType, event: str, argument: Any) -> None:
            del event, argument
            if not str(frame.f_globals.get("__name__", "")).startswith((*CARRIERS, "inspect")):
                entered.append(None)

        run_traced(lambda: outcome(self.run, data, Recorder(seed=seed).generator(), self.seconds), count)
        return len(entered)

    def call(
        self,
        data: Any,
        *seed: int,
        factor: float = 1.0,
        shifts: tuple[float, ...] = (),
        moved: float = 0.0,
        like: tuple[Draw, ...] = (),
        pins: tuple[Pin, ...] = (),
    ) -> Call:
        """Return one call, its draws moved by `shifts` and by a share, and its choices those of the draws `like`.

        Some numbers are drawn at a share of their law, as `pins` say. Raises: DPAuditError: an unreadable output.
        """
        moves: dict[str, Any] = {"factor": factor, "shifts": shifts, "moved": moved, "like": like, "pins": pins}
        recorder = Recorder(seed=seed, usual=self.usual, **moves)
        return self._read(outcome(self.run, data, recorder.generator(), self.seconds), recorder)

    def watched(self, data: Any, *seed: int, traced: bool = True) -> Call:
        """Return one call without additive noise, with what it shows beside its output and the lines that it ran."""
        recorder, lines = Recorder(seed=seed, factor=0.0, usual=self.usual), dict[str, set[int]]()
        function = getattr(self.run, "function", self.run)
        file = getattr(getattr(function, "__code__", None), "co_filename", None) if traced else None
        returned = list[Any]()

        def program() -> None:
            returned.append(outcome(self.run, data, recorder.generator(), self.seconds))

        with shown_beside() as shown:
            if file is None:
                program()
            else:
                lines = lines_run(program, lambda name: name == file)
        ran = frozenset((name, line) for name, numbers in lines.items() for line in numbers)
        return replace(self._read(returned[0], recorder), channels=shown.channels, lines=ran)

    def _read(self, returned: Any, recorder: Recorder) -> Call:
        """Return a call with its output as columns."""
        columns = _single(row_of(returned))
        for name in self.without:
            columns.pop(name, None)
        return Call(seed=recorder.seed, returned=returned, columns=columns, draws=tuple(recorder.draws))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Calls:
    """Calls that are made once each, however many pairs share a data set; lines are looked at where `traced`."""

    player: Player
    traced: bool = False
    made: dict[tuple[Any, ...], Call] = field(default_factory=dict[tuple[Any, ...], Call])
    models: dict[int, Any] = field(default_factory=dict[int, Any])

    def __call__(self, data: Any, *seed: int, factor: float = 1.0) -> Call:
        """Return the call on the stream of a seed."""
        key = id(data), seed, factor
        if key not in self.made:
            self.made[key] = self.player.call(data, *seed, factor=factor)
        return self.made[key]

    def moved(self, data: Any, *seed: int, shifts: tuple[float, ...] = ()) -> Call:
        """Return the call without additive noise on the stream of a seed whose draws are moved by `shifts`."""
        key = id(data), seed, shifts
        if key not in self.made:
            self.made[key] = self.player.call(data, *seed, factor=0.0, shifts=shifts)
        return self.made[key]

    def quiet(self, data: Any) -> Call:
        """Return the watched call without additive noise, on the stream `QUIET`."""
        key = id(data), (QUIET,), "watched"
        if key not in self.made:
            self.made[key] = self.player.watched(data, QUIET, traced=self.traced)
        return self.made[key]


def _single(fields: Fields) -> dict[str, float]:
    """Return the columns of one run, one number a name; further numbers of an array stand behind its name."""
    flat: dict[str, float] = {}
    for name, column in fields.items():
        row = column[0]
        if len(row) == 1:
            flat[name] = float(row[0])
        else:
            flat |= {f"{name}[{index}]": float(value) for index, value in enumerate(row[:MOST_NUMBERS])}
    return flat
