"""The divisor of Opacus: sums of gradients with their noise are divided by the integer part of records times rate.

Under add_remove a neighbour has one record more or less, and that integer may differ. Then the scale of the noise
itself differs, in every weight, and tells the neighbours apart whatever its size.
"""

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
