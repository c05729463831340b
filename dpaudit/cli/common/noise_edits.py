"""Calibrated noise put into the file that declares it: which keys change, and to what."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

from dpaudit.accounting.needed_noise import Calibration, NeededNoise
from dpaudit.certification.verdict import certify
from dpaudit.configuration.config import config_of
from dpaudit.configuration.configuration import Adapted, Configuration, Configured
from dpaudit.configuration.files import parse
from dpaudit.configuration.source_lines import Path, with_values
from dpaudit.errors import ConfigError
from dpaudit.model.declaration import Declaration, Release, children, scaled

_DIGITS = 6
"""Significant digits of what is written, rounded towards more noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One key of the file, the number that stands there and the one that the claim needs."""

    path: Path
    declared: float
    needed: str

    def __str__(self) -> str:
        """Return the change on one line."""
        key = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path).removeprefix(".")
        return f"{key} = {self.needed}, was {self.declared!r}"


def edited(configuration: Configuration, calibration: Calibration) -> tuple[str, tuple[Edit, ...]]:
    """Return the file's text with the needed noise, and the edits; the new file is known to be certified.

    Raises: ConfigError: the noise is no key of the file, or the rounded noise is not certified; nothing is to be
    written.
    """
    subject = configuration.subject
    if isinstance(subject, Adapted):
        raise configuration.error(
            "the noise is in the library's object, not in this file; --write has no key to change.", "library"
        )
    if isinstance(subject, Configured):
        edits = _of_settings(configuration, subject, calibration)
    else:
        data = parse(configuration.path, configuration.text)
        after = scaled(subject.declaration, calibration.factor)
        edits = tuple(_of_tree(data["declaration"], subject.declaration, after, ("declaration",)))
    text = _text(configuration, edits)
    if edits:
        _require_certified(configuration, text)
    return text, edits


def _of_settings(configuration: Configuration, subject: Configured, calibration: Calibration) -> tuple[Edit, ...]:
    """Return the edit of an algorithm whose setting is the noise itself."""
    multiplier = getattr(subject.algorithm, "noise_multiplier", None)
    if not isinstance(multiplier, float | int) or isinstance(multiplier, bool):
        raise configuration.error(
            f"[algorithm] {subject.name} computes its noise from its claim, so --write has no key to change; "
            "a calibration of the algorithm decides how much it is.",
            "algorithm",
        )
    needed = _rounded(multiplier * calibration.factor, upwards=True)
    edit = Edit(path=("algorithm", "noise_multiplier"), declared=float(multiplier), needed=needed)
    return (edit,) if float(needed) != multiplier else ()


def _of_tree(data: Any, before: Declaration, after: Declaration, where: Path) -> Iterator[Edit]:
    """Yield the edits of a written tree, in the file's order; `data` is what the file says at `where`."""
    if isinstance(before, Release) and isinstance(after, Release):
        change = NeededNoise(labels=(before.label,), declared=before.mechanism, needed=after.mechanism)
        for name, declared, needed in change.changes:
            literal = _rounded(needed, upwards=_grows(change, name))
            if float(literal) != declared:
                yield Edit(path=(*where, "mechanism", *name.split(".")), declared=declared, needed=literal)
        return
    places = _places(data)
    for path_of_child, first, second in zip(places, children(before), children(after), strict=True):
        inner: Any = data
        for step in path_of_child:
            inner = inner[step]
        yield from _of_tree(inner, first, second, (*where, *path_of_child))


def _grows(change: NeededNoise, name: str) -> bool:
    """Return whether more noise is a larger number; the epsilon of a randomised response falls."""
    doubled = NeededNoise(labels=change.labels, declared=change.declared, needed=change.declared.scaled(2.0))
    return any(key == name and after > before for key, before, after in doubled.changes)


def _places(data: Any) -> list[Path]:
    """Return where a node's parts stand in its table, in the order of `children`."""
    if "parts" in data:
        return [("parts", index) for index in range(len(data["parts"]))]
    return [(key,) for key in ("inside", "touched", "part") if key in data]


def _rounded(value: float, *, upwards: bool) -> str:
    """Return a number of few digits, rounded up or down."""
    context = Context(prec=_DIGITS, rounding=ROUND_CEILING if upwards else ROUND_FLOOR)
    return repr(float(context.create_decimal(Decimal(value))))


def _text(configuration: Configuration, edits: tuple[Edit, ...]) -> str:
    """Return the file's text with the edits."""
    try:
        return with_values(configuration.text, {edit.path: edit.needed for edit in edits})
    except KeyError as error:
        path: Path = error.args[0]
        raise configuration.error("no single number stands here; --write has no key to change.", *path) from None


def _require_certified(configuration: Configuration, text: str) -> None:
    """Refuse a text that does not meet its claim: rounding, or a file that says the noise twice."""
    subject = config_of(configuration.path, text).subject
    if certify(subject.declaration, subject.claim).verdict not in ("certified", "stated"):
        raise ConfigError(f"{configuration.path}: the rounded noise is not certified; nothing was written.")
