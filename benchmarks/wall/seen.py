"""`python -m benchmarks.wall.seen LIBRARY...`: which mechanisms the objects of a library show, and what it only states.

Each row of the wall that has a release is built, and nothing is run. A line of the table is for one library.
"""

import sys
from collections.abc import Sequence

from benchmarks.wall.rows import LISTS, rows_of
from dpaudit.adapters.release import LibraryRelease
from dpaudit.errors import DPAuditError
from dpaudit.model.declaration import Release, Stated, walk

HEADER = "| library | releases declared, and by which mechanisms | stated |\n|---|---|---|"


def line_of(library: str) -> str:
    """Return the line of a library that is installed here; what none of its objects shows stands under *stated*.

    Raises: UnsupportedError: the library is not installed.
    """
    declared, kinds, told, version = 0, set[str](), list[str](), ""
    releases = [(row.name, row.build()) for row in rows_of(library) if "replay" not in row.name]
    for name, release in releases:
        if not isinstance(release, LibraryRelease):
            continue
        version = release.version
        nodes = [node for _, node in walk(release.declaration)]
        shown = {node.mechanism.name for node in nodes if isinstance(node, Release)}
        partly = any(isinstance(node, Stated) for node in nodes)
        declared += bool(shown) and not partly
        kinds |= shown
        if partly:
            told.append(f"{name}, in part" if shown else name)
    mechanisms = ", ".join(sorted(kind.replace("_", " ") for kind in kinds)) or "none"
    stated = "; ".join(dict.fromkeys(told)) or "nothing"
    return f"| {library} {version} | {declared} of {len(releases)}: {mechanisms} | {stated} |"


def main(libraries: Sequence[str]) -> None:
    """Print the table of these libraries, of all where none is named; one that is not installed says so."""
    print(HEADER)  # noqa: T201 - a script
    for library in libraries or tuple(LISTS):
        try:
            print(line_of(library))  # noqa: T201
        except DPAuditError as error:
            print(f"{library}: {error}", file=sys.stderr)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
