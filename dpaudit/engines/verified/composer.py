"""Composition of many losses on lattices, with the same rounding throughout.

The cost is kept flat by one rule: a block of losses with standard deviation s is held on a lattice about
s / resolution wide. Powers are built by squaring, and after every other squaring the width doubles; then
blocks are joined, the narrowest first. Widths differ by powers of two within a power, so that no atom has to
be moved off its knot; where they must be changed otherwise, the cell rules of the rounding apply.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heapify, heappop, heappush

from dpaudit.engines.verified.cutting import cut
from dpaudit.engines.verified.discretised_loss import common_spacing
from dpaudit.engines.verified.lattice import Lattice, Rounding
from dpaudit.model.losses import SimpleLoss

_MANY = 8  # blocks of equal multiplicity that are worth a common family of widths
_ROUNDING = 1e-9
_CROWDED = 8  # times the most knots, which a lattice may have before it is coarsened
_LEAST = 16.0  # knots per standard deviation of the smallest of many blocks


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Some losses composed, the standard deviation that steers their width, and how many such blocks are meant."""

    lattice: Lattice
    deviation: float
    copies: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Composer:
    """How finely to compose: knots per standard deviation, bits of a probability, mass of a tail, most knots.

    Unit: `tail` is the probability that may be moved or dropped at each end of the whole composition in each
    generation of blocks; `deviation` is that of the whole composition.
    """

    rounding: Rounding
    resolution: float
    bits: int
    tail: float
    most: int
    deviation: float

    def compose(self, parts: Iterable[tuple[SimpleLoss, int, float]]) -> Lattice:
        """Return the composition of losses, each given with its multiplicity and its standard deviation.

        Losses of equal multiplicity are joined first and raised to a power together; many of them are put on widths
        that differ by powers of two at once.
        """
        groups: dict[int, list[Block]] = {}
        for loss, times, spread in parts:
            groups.setdefault(times, []).append(self._base(loss, spread, times))
        for blocks in groups.values():
            if len(blocks) > _MANY:
                blocks[:] = (self._aligned(block) for block in blocks)
        return self._all(self._power(self._all(blocks), times) for times, blocks in groups.items()).lattice

    def _aligned(self, block: Block) -> Block:
        """Return the block on a width that is the whole composition's over a power of two."""
        if not block.deviation:
            return block
        halvings = math.log2(self.deviation / self.resolution / self._width(block.deviation, block.copies))
        width = Fraction(self.deviation / self.resolution) / 2 ** max(0, math.ceil(halvings - _ROUNDING))
        return replace(block, lattice=self._on_width(block.lattice, width))

    def _all(self, blocks: Iterable[Block]) -> Block:
        """Return blocks composed, the narrowest first."""
        heap = [(block.deviation, index, block) for index, block in enumerate(blocks)]
        heapify(heap)
        while len(heap) > 1:
            (_, index, narrow), (_, _, wide) = heappop(heap), heappop(heap)
            joined = self._joined(narrow, wide)
            heappush(heap, (joined.deviation, index, joined))
        return heap[0][2]

    def _base(self, loss: SimpleLoss, spread: float, times: int) -> Block:
        """Return one loss on its lattice."""
        width = self._width(spread, times) or 1.0
        share = (spread / self.deviation) ** 2 if self.deviation else 1.0
        cells = cut(loss, width, max(self.tail * min(share, 1 / times), 1e-280))
        lattice = self.rounding.from_cells(cells, self.bits)
        return self._fitted(Block(lattice=lattice, deviation=spread, copies=times))

    def _width(self, deviation: float, copies: int) -> float:
        """Return the width for a block: its deviation over the resolution, which is lower for one of many blocks.

        A generation of blocks errs by its variance over the square of its resolution. With n blocks in it, work is
        least for the same error if the resolution falls with the cube root of n.
        """
        share = copies * (deviation / self.deviation) ** 2 if self.deviation else 1.0
        return deviation / max(min(_LEAST, self.resolution), self.resolution * math.cbrt(min(1.0, share)))

    def _power(self, base: Block, times: int) -> Block:
        """Return `times` copies composed, by squaring."""
        square, found = base, None
        while True:
            if times & 1:
                found = square if found is None else self._joined(found, square)
            times >>= 1
            if not times:
                return replace(found or square, copies=1)
            square = self._product(square, square)

    def _joined(self, narrow: Block, wide: Block) -> Block:
        """Return two blocks composed on a width that suits the wider one."""
        left, right = narrow.lattice, wide.lattice
        if left.width != right.width:
            span = max(left.top - left.origin, right.top - right.origin)
            width = self._shared_width(
                left, right, self._width(math.hypot(narrow.deviation, wide.deviation), wide.copies)
            )
            width = max(width, span / (_CROWDED * self.most))
            left, right = (self._on_width(one, width) for one in (left, right))
        return self._product(replace(narrow, lattice=left), replace(wide, lattice=right))

    def _shared_width(self, left: Lattice, right: Lattice, width: float) -> Fraction:
        """Return the wider lattice's width, halved until it is fine enough, or one that suits both exactly."""
        if len(left.masses) == 1:
            return right.width
        if len(right.masses) == 1:
            return left.width
        span = float(left.top - left.origin + right.top - right.origin)
        wanted = max(width, span / self.most)
        ratio = right.width / left.width
        if ratio.denominator == 1 and ratio > 1 and float(right.width) <= wanted:
            return right.width
        if ratio.numerator == 1 or ratio.denominator == 1:
            common: float | None = float(min(left.width, right.width))
        else:
            common = common_spacing([float(left.width), float(right.width)], wanted / 2)
        if common and common >= wanted / 2:
            return min(left.width, right.width) if common == float(min(left.width, right.width)) else Fraction(common)
        halvings = max(0, math.ceil(math.log2(float(right.width) / wanted)))
        return right.width * Fraction(1, 2**halvings)

    def _on_width(self, lattice: Lattice, width: Fraction) -> Lattice:
        """Return the lattice on another width."""
        return lattice if lattice.width == width else self.rounding.coarsened(lattice, width)

    def _product(self, left: Block, right: Block) -> Block:
        """Return two blocks of equal width composed."""
        deviation = math.hypot(left.deviation, right.deviation)
        return self._fitted(
            replace(left, lattice=self.rounding.product(left.lattice, right.lattice), deviation=deviation)
        )

    def _fitted(self, block: Block) -> Block:
        """Return the block without its tails, coarsened as far as its deviation and the limit on knots ask."""
        share = (block.deviation / self.deviation) ** 2 if self.deviation else 1.0
        lattice = self.rounding.trimmed(block.lattice, int(self.tail * min(1.0, share) * 2.0**self.bits))
        least = float(lattice.width) * len(lattice.masses) / self.most
        wanted = max(self._width(block.deviation, block.copies), least) / float(lattice.width)
        if wanted >= 2:
            lattice = self.rounding.coarsened(lattice, lattice.width * 2 ** math.floor(math.log2(wanted)))
        return replace(block, lattice=lattice)
