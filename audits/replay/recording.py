"""A random generator that writes down every draw: its law, its standard noise, and the line of code that asked.

Each draw starts at a place of the stream that its number alone decides. So two runs draw equal numbers from equal laws,
however many numbers an earlier draw took, and noise can be left out without moving what follows.
"""

import inspect
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from audits.replay.positions import Given, draw_at
from dpaudit.model.mechanism import Array
from dpaudit.model.tape import line_of, to_stretch

_EXPONENTIAL = ("exponential", "standard_exponential")
_STANDARD = ("standard_normal", "standard_exponential")
ADDITIVE = ("laplace", "normal", "standard_normal", "logistic", "gumbel", *_EXPONENTIAL)
"""Laws of location and scale: a draw is its location plus its scale times standard noise."""

_CONTINUOUS = (
    *("random", "uniform", "gamma", "standard_gamma", "chisquare", "beta"),
    *("standard_t", "standard_cauchy", "triangular", "lognormal", "pareto", "power", "rayleigh", "wald", "weibull"),
    *("vonmises", "dirichlet", "multivariate_normal"),
)
"""Other laws that have a density."""

_OTHERS = (
    *("integers", "choice", "permutation", "permuted", "shuffle", "bytes"),
    *("negative_binomial", "hypergeometric", "multinomial", "zipf", "logseries"),
)


def _geometric(k: Any, p: Any) -> tuple[Any, Any, Any]:
    return np.ones_like(p), np.sqrt(1 - p) / p, np.where(k >= 1, np.log(p) + xlog1py(k - 1, -p), -np.inf)


def _poisson(k: Any, lam: Any) -> tuple[Any, Any, Any]:
    return np.rint(lam), np.sqrt(lam), np.where(k >= 0, xlogy(k, lam) - lam - gammaln(k + 1), -np.inf)


def _binomial(k: Any, n: Any, p: Any) -> tuple[Any, Any, Any]:
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    log_mass = np.where((k >= 0) & (k <= n), ways + xlogy(k, p) + xlog1py(n - k, -p), -np.inf)
    return np.rint(n * p), np.sqrt(n * p * (1 - p)), log_mass


WHOLE: dict[str, tuple[tuple[str, ...], Callable[..., tuple[Any, Any, Any]]]] = {
    "geometric": (("p",), _geometric),
    "poisson": (("lam",), _poisson),
    "binomial": (("n", "p"), _binomial),
}
"""Laws of whole numbers, which are noise around their centre: their parameters by name, and what returns their centre,
standard deviation and the logarithm of the mass at k."""

_MOST_VALUES = 1 << 14
"""A choice among more values is matched by their places."""
_PATIENT, _AT_A_LINE, _TIMES = 1 << 11, 1 << 8, 8
"""A call without noise that draws so often waits for noise, as a loop that draws again does: then it gets it. So does
one that draws at a line 256 times, and eight times as often as a call with noise did."""

Pin = tuple[int, int, float]
"""The place of a draw, that of a number in it, and the share of its law below this number."""

CARRIERS = ("audits.", "dpaudit.", "numpy")
"""Modules between the program and its draws."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Draw:
    """One draw. `noise` is the flat standard noise of an additive law, and `scale` its scale; both empty for others.

    A choice with replacement has the different `values` that it chooses among, and their `chances`. Of it, and of a
    whole number, `picked` holds what was drawn and `log_chance` the logarithm of its probability. Of a law of one
    number `drawn` holds what was drawn, before it was moved, with the arguments `given`.
    """

    law: str
    site: str
    noise: Array = field(default_factory=lambda: np.zeros(0))
    scale: Array = field(default_factory=lambda: np.zeros(0))
    values: Array = field(default_factory=lambda: np.zeros(0))
    chances: Array = field(default_factory=lambda: np.zeros(0))
    picked: Any = None
    log_chance: float = 0.0
    drawn: Any = None
    given: Given = ((), {})

    @property
    def weighed(self) -> tuple[Any, ...]:
        """The law and how often it was drawn from, by axis, where what was drawn is weighed; else empty."""
        return () if self.picked is None else (self.law, *np.shape(self.picked))


@dataclass(slots=True, kw_only=True, eq=False)
class Recorder:
    """The draws of one run on the stream of `seed`; `factor` multiplies all additive noise, and 0 leaves it out.

    `shifts` are added to the single draws of additive noise, in their order. All noise with a density is multiplied by
    1 + `moved`. Choices and whole numbers are those of `like`, the draws of another run, where they can be. A line that
    draws more often than `usual` says gets its noise, whatever the factor is. Each of `pins` is the place of a
    draw, the place of a number in it, and the share of its law that this number then has below it.

    >>> recorder = Recorder(seed=(1,))
    >>> float(Recorder(seed=(1,), factor=0.0).generator().laplace(3.0, 2.0))
    3.0
    >>> value = recorder.generator().laplace(3.0, 2.0)
    >>> bool(np.isclose(value, 3.0 + 2.0 * recorder.draws[0].noise[0]))
    True
    """

    seed: tuple[int, ...]
    factor: float = 1.0
    shifts: tuple[float, ...] = ()
    moved: float = 0.0
    like: tuple[Draw, ...] = ()
    usual: Mapping[str, int] = field(default_factory=dict[str, int])
    pins: tuple[Pin, ...] = ()
    draws: list[Draw] = field(default_factory=list[Draw])
    asked: Counter[str] = field(default_factory=Counter[str])
    _bits: np.random.PCG64 | None = None
    _start: Any = None

    def generator(self) -> "RecordingGenerator":
        """Return a generator whose draws are written down here; all have one source, which each draw moves."""
        if self._bits is None:
            self._bits = np.random.PCG64(np.random.SeedSequence(self.seed))
            self._start = self._bits.state
        generator = RecordingGenerator(self._bits)
        generator.recorder = self
        return generator

    def place(self, bits: Any) -> None:
        """Move a source of bits to the stretch of the next draw."""
        to_stretch(bits, self._start, len(self.draws) + 1)

    def factor_at(self, site: str) -> float:
        """Return the factor of additive noise that a line asks for now; 1 where the line waits for noise."""
        self.asked[site] += 1
        waits = len(self.draws) >= _PATIENT or self.asked[site] > self.usual.get(site, _PATIENT)
        return 1.0 if waits else self.factor

    def pinned(self, law: str, drawn: Any, given: Given) -> Any:
        """Return what was drawn now, with the numbers that are pinned."""
        for place, index, share in self.pins:
            if place == len(self.draws) and index < np.size(drawn) and given[1].get("out") is None:
                drawn = draw_at(law, given, drawn, index, share)
        return drawn

    def drawn_like(self, draw: tuple[Any, ...]) -> Any:
        """Return what the other run drew where a draw is `weighed` now, if it did so there as often; else None."""
        other = self.like[len(self.draws)] if len(self.draws) < len(self.like) else None
        return other.picked if other is not None and other.weighed == draw else None

    def next_shifts(self, noise: Array) -> Array | None:
        """Return the shifts of the next draw of additive noise, in its shape; None where it has none."""
        before = sum(len(draw.noise) for draw in self.draws) if self.shifts else 0
        own = self.shifts[before : before + noise.size]
        if not any(own):
            return None
        shifts = np.zeros(noise.size)
        shifts[: len(own)] = own
        return shifts.reshape(noise.shape)


class RecordingGenerator(np.random.Generator):
    """A generator that a recorder hands out."""

    recorder: Recorder

    def spawn(self, n_children: int) -> list[np.random.Generator]:
        """Return generators that write to the same recorder."""
        return [self.recorder.generator() for _ in range(n_children)]


def usual_of(draws: tuple[Draw, ...]) -> dict[str, int]:
    """Return how often each line that drew in a call with noise may draw in one without noise."""
    return {site: _AT_A_LINE + _TIMES * number for site, number in Counter(draw.site for draw in draws).items()}


def _method(name: str) -> Callable[..., Any]:
    """Return the method that draws from a law and writes the draw down."""
    plain = getattr(np.random.Generator, name)
    noted = _additive if name in ADDITIVE else _whole if name in WHOLE else _other

    def drawn(self: RecordingGenerator, *args: Any, **kwargs: Any) -> Any:
        self.recorder.place(self.bit_generator)
        value = self.recorder.pinned(name, plain(self, *args, **kwargs), (args, kwargs))
        return noted(self.recorder, name, value, (args, kwargs))

    return drawn


def _additive(recorder: Recorder, name: str, value: Any, given: Given) -> Any:
    """Return what was drawn from an additive law, with noise that is moved."""
    location, scale = _location_and_scale(name, *given)
    noise, spread = _standard_noise(value, location, scale)
    shift, site = recorder.next_shifts(noise), _site()
    factor = recorder.factor_at(site) * (1 + recorder.moved)
    recorder.draws.append(
        Draw(law=name, noise=noise.ravel(), scale=spread.ravel(), site=site, drawn=np.array(value), given=given)
    )
    if (factor == 1.0 and shift is None) or given[1].get("out") is not None:
        return value
    return _like(value, location + factor * spread * noise + (0.0 if shift is None else shift))


def _like(value: Any, moved: Any) -> Any:
    """Return moved numbers of the type of what was drawn."""
    return moved.astype(value.dtype) if isinstance(value, np.ndarray) else type(value)(moved)


def _standard_noise(value: Any, location: Any, scale: Any) -> tuple[Array, Array]:
    """Return the standard noise of a draw, and its scale, in the shape of the draw."""
    if isinstance(value, float):  # numpy takes ten times as long for one number
        spread = float(scale)
        return np.array((value - location) / spread if spread else 0.0), np.array(spread)
    spreads = np.broadcast_to(np.asarray(scale, dtype=np.float64), np.shape(value))
    return np.asarray((value - location) / np.where(spreads == 0, np.inf, spreads)), spreads


def _other(recorder: Recorder, name: str, value: Any, given: Given) -> Any:
    """Return what was drawn from any other law; noise with a density is moved in its last digits."""
    drawn = np.array(value) if name in _CONTINUOUS else None
    recorder.draws.append(Draw(law=name, site=_site(), drawn=drawn, given=given))
    if drawn is None or not recorder.moved or given[1].get("out") is not None:
        return value
    return _like(value, np.asarray(value) * (1 - abs(recorder.moved)))


def _whole(recorder: Recorder, name: str, value: Any, given: Given) -> Any:
    """Return whole numbers that were drawn, which are noise around their centre."""
    named, law = WHOLE[name]
    asked = {"lam": 1.0} | dict(zip(named, given[0], strict=False)) | given[1]
    parameters = [np.asarray(asked[parameter], dtype=np.float64) for parameter in named]
    other = recorder.drawn_like((name, *np.shape(value)))
    value = value if other is None else other
    with np.errstate(divide="ignore", invalid="ignore"):
        centre, spread, _ = np.broadcast_arrays(*law(value, *parameters))
        noise = np.asarray((value - centre) / np.where(spread == 0, np.inf, spread))
        shift, site = recorder.next_shifts(noise), _site()
        factor = recorder.factor_at(site)
        moved = np.asarray(value)
        if factor != 1.0 or shift is not None:
            steps = factor * (value - centre) + (0.0 if shift is None else shift)
            moved = np.asarray(np.rint(centre + steps), dtype=np.int64)
        log_chance = float(np.sum(law(moved, *parameters)[2]))
    draw = Draw(law=name, site=site, noise=noise.ravel(), scale=spread.ravel(), drawn=np.array(value), given=given)
    recorder.draws.append(replace(draw, picked=moved, log_chance=log_chance))
    return moved if moved.ndim else int(moved)


def _choice(self: RecordingGenerator, a: Any, size: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Draw a choice; one with replacement is noted with the values that it chooses among, as `Recorder.like` says."""
    p = kwargs.get("p")
    if args or set(kwargs) > {"p", "replace"} or np.ndim(a) > 1 or not (kwargs.get("replace", True) or size is None):
        return _plain_choice(self, a, size, *args, **kwargs)
    self.recorder.place(self.bit_generator)
    among = np.arange(a) if np.ndim(a) == 0 else np.asarray(a)
    before = len(self.recorder.draws)
    indices = np.random.Generator.choice(self, len(among), size, p=p)
    del self.recorder.draws[before:]  # numpy chooses by a uniform or whole number of the same generator
    values, places = _different(among)
    chances = np.bincount(places, weights=p, minlength=len(values))
    picked = places[indices]
    other = self.recorder.drawn_like((_CHOICE, *np.shape(picked)))
    if other is not None and np.isin(other, values).all():
        picked = np.searchsorted(values, other)
        indices = np.unique(places, return_index=True)[1][picked]
    shares = chances / chances.sum()
    with np.errstate(divide="ignore"):
        log_chance = float(np.log(shares[picked]).sum())
    drawn = {"picked": values[picked], "log_chance": log_chance}
    self.recorder.draws.append(Draw(law=_CHOICE, site=_site(), values=values, chances=shares, **drawn))
    return indices if np.ndim(a) == 0 else among[indices]


def _different(among: Array) -> tuple[Array, Array]:
    """Return the different values in order and the place of each; of values that have no order, or NaN, the places."""
    ordered = among.dtype.kind in "biufU" and len(among) <= _MOST_VALUES and not (among != among).any()
    return np.unique(among, return_inverse=True) if ordered else (np.arange(len(among)),) * 2


def _location_and_scale(law: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Return the location and the scale of a draw; exponential noise begins at 0."""
    if law in _STANDARD:
        return 0.0, 1.0
    if law in _EXPONENTIAL:
        return 0.0, args[0] if args else kwargs.get("scale", 1.0)
    location = args[0] if args else kwargs.get("loc", 0.0)
    return location, args[1] if len(args) > 1 else kwargs.get("scale", 1.0)


def _site() -> str:
    """Return the line of code that asked for a draw, as "module/path.py:line"."""
    frame = inspect.currentframe()
    while frame is not None and str(frame.f_globals.get("__name__", "")).startswith(CARRIERS):
        frame = frame.f_back
    return "an unknown line" if frame is None else line_of(frame)


for _name in (*ADDITIVE, *WHOLE, *_CONTINUOUS, *_OTHERS):
    setattr(RecordingGenerator, _name, _method(_name))
_CHOICE = "choice"
_plain_choice = _method(_CHOICE)
setattr(RecordingGenerator, _CHOICE, _choice)
