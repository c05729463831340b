"""Points of a curve as a command line writes them: ORDER:EPSILON, or EPSILON:DELTA, parted by semicolons."""

POINT_KEYS = {"renyi": ("order", "epsilon"), "profile": ("epsilon", "delta")}
"""The two numbers of a point, by the measure."""


def points(measure: str, text: str) -> list[dict[str, float]]:
    """Return the points of `text`, sorted.

    Raises: ValueError: a point that is not two numbers.

    >>> points("renyi", "8:0.16;2:0.04")
    [{'order': 2.0, 'epsilon': 0.04}, {'order': 8.0, 'epsilon': 0.16}]
    """
    try:
        rows = sorted([float(number) for number in point.split(":")] for point in text.split(";"))
        return [dict(zip(POINT_KEYS[measure], row, strict=True)) for row in rows]
    except ValueError:
        raise ValueError(f"{measure}={text!r} is no point, as in 2:0.04.") from None
