"""The shipped list of the wall, one file a library; a library is imported when one of its rows is built."""

from importlib import import_module

from benchmarks.wall.row import Row

LISTS: dict[str, str] = {
    "opendp": "benchmarks.wall.rows.opendp",
    "diffprivlib": "benchmarks.wall.rows.diffprivlib",
    "python-dp": "benchmarks.wall.rows.python_dp",
    "pipeline-dp": "benchmarks.wall.rows.pipelinedp",
    "smartnoise-sql": "benchmarks.wall.rows.smartnoise_sql",
    "smartnoise-synth": "benchmarks.wall.rows.smartnoise_synth",
    "dpmm": "benchmarks.wall.rows.synthesizers",
    "synthcity": "benchmarks.wall.rows.synthesizers",
    "mostlyai-engine": "benchmarks.wall.rows.synthesizers",
    "dp-accounting": "benchmarks.wall.rows.dp_accounting",
    "opacus": "benchmarks.wall.rows.opacus",
    "tumult": "benchmarks.wall.rows.tumult",
}
"""By distribution: the module whose ROWS are its rows."""


def rows_of(library: str) -> tuple[Row, ...]:
    """Return the rows of one library.

    Raises: KeyError: no such library.
    """
    return tuple(row for row in import_module(LISTS[library]).ROWS if row.library == library)


def every_row() -> tuple[Row, ...]:
    """Return all rows, library after library.

    >>> len(every_row()) >= 60
    True
    """
    return tuple(row for library in LISTS for row in rows_of(library))
