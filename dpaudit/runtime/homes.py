"""Where a name is that a package root does not have: what the message of a refused import says."""

import re
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from dpaudit.runtime.exports import exported
from dpaudit.runtime.package_guard import PACKAGES


@cache
def remedy(package: str, name: str) -> str:
    """Return where a name is, or the public name next to it; an empty text where nothing is near, and for a module.

    >>> remedy("dpaudit", "GaussianLoss"), remedy("dpaudit", "certfy"), remedy("dpaudit", "weather")
    ('write: from dpaudit.model.losses import GaussianLoss', "did you mean 'certify'?", '')
    """
    if find_spec(f"{package}.{name}"):
        return ""  # `from package import module` imports it next
    for root in (package, *PACKAGES):
        if home := root if name in exported(root) else _home(root, name):
            return f"write: from {home} import {name}"
    names = {public.lower(): public for public in exported(package)}
    near = get_close_matches(name.lower(), names, 1, cutoff=0.8)
    return f"did you mean {names[near[0]]!r}?" if near else ""


def _home(package: str, name: str) -> str:
    """Return the module below a package that a user imports a name from, else an empty text.

    Folders that offer the name come first, then modules that define it, each with the shortest path.
    """
    folder = Path(str(import_module(package).__file__)).parent
    offered = re.compile(rf"^ *from [\w.]+ import .*\b{re.escape(name)}$", flags=re.M)
    defined = re.compile(rf"^(?:class|def) {re.escape(name)}\b|^{re.escape(name)} = ", flags=re.M)
    for files, pattern in (("__init__.py", offered), ("*.py", defined)):
        for path in sorted(folder.rglob(files), key=lambda path: (len(path.parts), path)):
            inner = path.relative_to(folder).with_suffix("").parts
            inner = inner[:-1] if inner[-1] == "__init__" else inner
            public = inner and inner[0] != "cli" and not any(part.startswith("_") for part in inner)
            if public and pattern.search(path.read_text(encoding="utf-8")):
                return ".".join((package, *inner))
    return ""
