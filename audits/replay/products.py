"""Numbers of an output times other numbers of it: a mean that was divided by a published count is a noisy sum again.

Whoever sees an output may multiply its numbers. A claim about the output bounds each product as well.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import fsum, inf

from audits.outputs.fields import NUMBER

_MOST_NUMBERS, _MOST_FACTORS = 16, 32
_FLOORS = (1.0, -inf)
"""Counts that divide are often kept from falling below 1; where none does, both products are equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """The number `name` times the sum of the numbers `factors`, or times `floor` where that is larger."""

    name: str
    factors: tuple[str, ...]
    floor: float

    def of(self, numbers: Mapping[str, float]) -> float:
        """Return the product in one output; NaN where a number is missing.

        >>> Product(name="mean", factors=("n",), floor=1.0).of({"mean": 2.5, "n": 4.0})
        10.0
        """
        if self.name not in numbers or any(name not in numbers for name in self.factors):
            return float("nan")
        return numbers[self.name] * max(self.floor, fsum(numbers[name] for name in self.factors))


def products(numbers: Mapping[str, float], wanted: Iterable[str]) -> dict[str, Product]:
    """Return products of the `wanted` numbers with each other number, and with the sum of each array, by a name."""
    factors = list(_factors(numbers))[:_MOST_FACTORS]
    by_name: dict[str, Product] = {}
    for name in list(wanted)[:_MOST_NUMBERS]:
        for words, names in factors:
            for floor in _FLOORS if name not in names else ():
                least = "" if floor == -inf else f", at least {floor:g}"
                by_name[f"{name} times {words}{least}"] = Product(name=name, factors=names, floor=floor)
    return by_name


def _factors(numbers: Mapping[str, float]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the sum of each array of several numbers, then single numbers: what each is called, and their names."""
    arrays: dict[str, list[str]] = {}
    for name in numbers:
        arrays.setdefault(name.rpartition("[")[0] if name.endswith("]") else name, []).append(name)
    paths = {array: array.removeprefix(NUMBER).lstrip(".") for array in arrays}
    yield from ((f"the sum of {paths[array]}", tuple(names)) for array, names in arrays.items() if len(names) > 1)
    yield from ((name.removeprefix(NUMBER).lstrip("."), (name,)) for name in numbers)
