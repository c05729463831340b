"""What a shuffle needs to know of one report: its laws on classes of outcomes, by what the user holds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportLaws:
    """The probabilities of classes of outcomes of one report.

    `values` holds the law of the first value, of the second, and of a third one where there is such. Any two values
    are as alike as the first and the second, up to their order. `least` is the sum, over the outcomes of a class, of
    the smallest probability that any value gives the outcome. In a class the first two laws are constant multiples of
    it. `complete`: there are no values but these.
    """

    values: tuple[tuple[float, ...], ...]
    least: tuple[float, ...]
    complete: bool
