"""The divisor of Opacus: sums of gradients with their noise are divided by the integer part of records times rate.

Under add_remove a neighbour has one record more or less, and that integer may differ. Then the scale of the noise
itself differs, in every weight, and tells the neighbours apart whatever its size.
"""

import math

from dpaudit.checks import count


def divisor_of(records: int, batches: int) -> int:
    """Return what Opacus divides by, for a loader of `batches` batches of all `records`.

    Source: PrivacyEngine.make_private of Opacus 1.6, expected_batch_size.

    >>> divisor_of(59_925, 235), divisor_of(59_924, 235)
    (255, 254)
    """
    return int(count("records", records) * (1 / count("batches", batches)))


def telling_neighbour(records: int, batches: int) -> int | None:
    """Return the number of records of a neighbour under which Opacus divides by another integer; None if both share it.

    >>> telling_neighbour(59_925, 235), telling_neighbour(60_000, 235)
    (59924, None)
    """
    own = divisor_of(records, batches)
    others = (number for number in (records - 1, records + 1) if number > 0)
    return next((number for number in others if divisor_of(number, batches) != own), None)


def loss_by_divisor(first: int, second: int, weights: int) -> float:
    """Return the mean privacy loss of one step, in nats, of noise alone that is divided by `first`, against `second`.

    It is the Kullback-Leibler divergence of `weights` Gaussian numbers whose scales have the ratio second / first.

    >>> round(loss_by_divisor(254, 255, 10**6), 1)
    15.5
    """
    ratio = (second / first) ** 2
    return weights * (ratio - 1 - math.log(ratio)) / 2
