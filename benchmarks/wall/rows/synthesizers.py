"""Rows of synthesizers: dpmm, SmartNoise Synth, synthcity's PrivBayes and the analysis of MOSTLY AI's engine.

synthcity and MOSTLY AI's engine are loaded file by file: what their packages import beside these files takes gigabytes.
"""

import sys
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import lru_cache, partial
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.wall.library_files import file_of, loaded
from benchmarks.wall.row import Replay, Row, Standing, bare_release
from dpaudit.adapters import LibraryRelease, adapt
from dpaudit.adapters.finding import installed_version, library_module
from dpaudit.model.claim import Claim, Neighbours

_FITS, _DELTA = 60, 1e-5
_PUBLISHED: dict[str, Any] = {"standing": "known bug", "source": "Cebere and others 2026"}
_NO_DOMAIN: dict[str, Any] = {"standing": "known bug", "source": "dpmm 18"}
_INFERRED: dict[str, Any] = {
    "standing": "misuse",
    "source": "no transformer is given, so that categories come from the data",
}


def tables(*, value: int = 9) -> tuple[Any, Any]:
    """Return a table of 200 rows, and the same with one row more, which has `value` in its first column.

    >>> [(len(table), int(table["a"].max())) for table in tables()]
    [(200, 2), (201, 9)]
    """
    frames, rng = library_module("pandas", "pandas"), np.random.default_rng(0)
    first = frames.DataFrame({"a": rng.integers(0, 3, 200), "b": rng.integers(0, 2, 200)})
    row = frames.DataFrame({"a": [value], "b": [1]})
    return first, frames.concat([first, row], ignore_index=True)


def _dpmm(kind: str, *, domain: Mapping[str, int] | None, audited: bool = True, **settings: Any) -> LibraryRelease:
    """Return the release of a model of dpmm; MST takes five seconds a fit, and is not run."""
    made = getattr(library_module("dpmm.models", "dpmm"), kind)
    model = made(epsilon=1.0, delta=_DELTA, n_jobs=1, domain=domain, **settings)
    release = adapt(model, neighbours="add_remove", pair=tables())
    return release if audited else replace(release, function=None)


def _domain_seen() -> Replay:
    """Return by how many values one record changes the domain that MST of dpmm reads, if it is given none."""
    models = library_module("dpmm.models", "dpmm")
    sizes = []
    for table in tables():
        model = models.MSTGM(epsilon=1.0, delta=_DELTA, n_iters=1, n_jobs=1, compress=False)
        model.fit(table)
        sizes.append(int(np.prod(model.generator.model.domain.shape)))
    return Replay(
        text="cells of the domain of the fitted model, one record added",
        claimed=0.0,
        seen=float(abs(sizes[0] - sizes[1])),
        version=installed_version("dpmm"),
    )


def _choices() -> LibraryRelease:
    """Return whether dpmm's PrivBayes models two columns together, at the share of epsilon that choices have in a fit.

    Its scores are mutual informations over the root of both entropies, which one record may move from 0 to 1; the noise
    is that of a mutual information, which it moves by .06 in 200 rows.
    """
    bayes, tables_of = (library_module(name, "dpmm") for name in ("dpmm.models.priv_bayes", "dpmm.models.base.mbi"))
    frames, names = library_module("pandas", "pandas"), ["a", "b", "c"]
    domain = tables_of.Domain(names, [2, 2, 2])
    made = bayes.PrivBayes(epsilon=1.0, delta=_DELTA, n_jobs=1)

    def call(table: Any) -> bool:
        return any({"a", "b"} <= {*chosen} for chosen in made.select(tables_of.Dataset(table, domain)))

    first = frames.DataFrame({name: [0] * 200 for name in names})
    pair = first, frames.concat([first, frames.DataFrame({"a": [1], "b": [1], "c": [0]})], ignore_index=True)
    version, source = installed_version("dpmm"), "half of the epsilon of PrivBayesGM(epsilon=1)"
    return bare_release("dpmm", version, "choices", Claim(epsilon=0.5, neighbours="add_remove"), source, call, pair)


def _smartnoise(kind: str, *, public: bool = False, audited: bool = True, **settings: Any) -> LibraryRelease:
    """Return the release of a synthesizer of SmartNoise, which takes the categories from the data unless `public`."""
    made = library_module("snsynth", "smartnoise-synth").Synthesizer.create(kind, epsilon=1.0, **settings)
    fitting: dict[str, Any] = {"categorical_columns": ["a", "b"], "preprocessor_eps": 0.0}
    pair = tables()
    if public:
        transform = library_module("snsynth.transform.table", "smartnoise-synth").TableTransformer
        fitting = {"transformer": transform.create(pair[1], style="cube", categorical_columns=["a", "b"])}
    release = adapt(made, neighbours="add_remove", pair=pair, delta=_DELTA, **fitting)
    return release if audited else replace(release, function=None)


def _privbayes(relation: Neighbours, pair: tuple[str, str], columns: int) -> LibraryRelease:
    """Return the release of synthcity's PrivBayes with so many columns in each marginal: the fitted network.

    Synthetic rows are drawn from the network alone, so that epsilon is a claim about the network. A table is given as
    its rows, "xu yv" for two rows of two columns.
    """
    version, source = installed_version("synthcity"), f"PrivBayes(epsilon=1, K={columns})"
    made, frames = _privbayes_module().PrivBayes, library_module("pandas", "pandas")

    def call(rows: str) -> dict[str, list[float]]:
        table = frames.DataFrame([tuple(row) for row in rows.split()], columns=["a", "b"])
        fitted = made(epsilon=1.0, K=columns).fit(table)
        nodes = {f"{node} of {parents}": fitted.network.get_cpds(node) for node, parents in fitted.dag}
        return {name: node.get_values().ravel().tolist() for name, node in sorted(nodes.items())}

    return bare_release("synthcity", version, "PrivBayes", Claim(epsilon=1.0, neighbours=relation), source, call, pair)


@lru_cache(maxsize=1)
def _privbayes_module() -> ModuleType:
    """Return the file of PrivBayes, with empty modules in place of what it imports and a fit does not call.

    Raises: UnsupportedError: the library is not installed.
    """
    place = file_of("synthcity", "synthcity", "plugins", "privacy", "plugin_privbayes.py")
    core = "synthcity.plugins.core"
    names: dict[str, dict[str, Any]] = {
        f"{core}.{name.lower()}": {name: object} for name in ("Distribution", "Plugin", "Schema", "Serializable")
    }
    names |= {f"{core}.dataloader": {"DataLoader": object}, "google.generativeai": {}}
    names["synthcity.logger"] = {"debug": print_nothing, "info": print_nothing}
    names["synthcity.utils.reproducibility"] = {"enable_reproducible_results": print_nothing}
    for name, fields in names.items():
        parts = name.split(".")
        for length in range(1, len(parts)):
            parent = ModuleType(".".join(parts[:length]))
            parent.__path__ = []
            sys.modules.setdefault(parent.__name__, parent)
        sys.modules[name] = ModuleType(name)
        vars(sys.modules[name]).update(fields)
    return loaded(place)


def print_nothing(*_: Any, **__: Any) -> None:
    """Take the place of a logger."""


def _numeric_column() -> LibraryRelease:
    """Return what MOSTLY AI's analysis publishes of one numeric column under value protection at epsilon 1.

    The ends of the column come from a noisy histogram with threshold 22.6, its kind from noisy counts of its values
    with threshold 5; the record that is added moves one count across each.
    """
    version = installed_version("mostlyai-engine")
    package = ModuleType("mostlyai.engine")
    package.__path__ = [str(file_of("mostlyai-engine", "mostlyai", "engine"))]
    sys.modules.setdefault("mostlyai.engine", package)
    numeric = import_module("mostlyai.engine._encoding_types.tabular.numeric")
    frames = library_module("pandas", "pandas")

    @lru_cache(maxsize=2)
    def analysed(values: tuple[int, ...]) -> Any:
        keys = frames.Series(range(len(values)), name="key")
        return numeric.analyze_numeric(frames.Series(values, name="paid"), keys)

    def call(values: tuple[int, ...]) -> str:
        shown = numeric.analyze_reduce_numeric([deepcopy(analysed(values))], True, 1.0)  # noqa: FBT003 - the library's
        return f"{shown['encoding_type']} {shown.get('min')} {shown.get('max')}"

    source, without = "value_protection_epsilon of the column", (3,) * 40 + (5000,) * 17 + (6000,) * 5
    claim, pair = Claim(epsilon=1.0, neighbours="add_remove"), (without, (*without, 6000))
    return bare_release("mostlyai-engine", version, "analysis of a numeric column", claim, source, call, pair)


def _row(
    library: str,
    name: str,
    build: Callable[[], LibraryRelease | Replay],
    *,
    pair: str = "200 rows, one more with a new value",
    runs: int = _FITS,
    standing: Standing = "sound",
    source: str = "",
) -> Row:
    """Return one row."""
    return Row(library=library, name=name, pair=pair, runs=runs, build=build, standing=standing, source=source)


_AIM: dict[str, Any] = {"n_iters": 1, "rounds": 2}
_PUBLIC = {"a": 10, "b": 2}
_NEAR_THRESHOLD = "xu xu xu xu xv xv xv yu yu yu yv yv", "xu xu xu xu xu xv xv yu yu yu yv yv"
"""The normalised mutual information of the two columns is .0006 and .0108; the threshold is .01."""

ROWS = (
    _row("dpmm", "AIM, domain given", partial(_dpmm, "AIMGM", domain=_PUBLIC, **_AIM)),
    _row("dpmm", "AIM, no domain given", partial(_dpmm, "AIMGM", domain=None, **_AIM), **_NO_DOMAIN),
    _row("dpmm", "MST, domain given", partial(_dpmm, "MSTGM", domain=_PUBLIC, audited=False)),
    _row("dpmm", "MST, no domain given, replay", _domain_seen, runs=1, **_NO_DOMAIN),
    _row(
        "dpmm",
        "PrivBayes, its choices",
        _choices,
        pair="200 equal rows, one more that differs in two columns",
        runs=2_000,
        standing="known bug",
        source="sensitivity of a normalised score",
    ),
    _row(
        "smartnoise-synth",
        "MST, transformer given",
        partial(_smartnoise, "mst", public=True, audited=False, delta=_DELTA),
    ),
    _row("smartnoise-synth", "AIM, transformer given", partial(_smartnoise, "aim", public=True, rounds=2)),
    _row("smartnoise-synth", "AIM, categories from the data", partial(_smartnoise, "aim", rounds=2), **_INFERRED),
    _row("smartnoise-synth", "MWEM, categories from the data", partial(_smartnoise, "mwem"), **_INFERRED),
    _row(
        "smartnoise-synth",
        "DP-CTGAN, categories from the data",
        partial(_smartnoise, "dpctgan", epochs=1, batch_size=100),
        **_INFERRED,
    ),
    _row(
        "synthcity",
        "PrivBayes, as many parents as columns",
        partial(_privbayes, "replace_one", ("xu " * 9 + "yv", "xu " * 8 + "yv yv"), 2),
        pair="10 rows, one replaced",
        **_PUBLISHED,
    ),
    _row(
        "synthcity",
        "PrivBayes, noise by the number of records",
        partial(_privbayes, "add_remove", ("xu " * 99 + "yv", "xu " * 99 + "yv yv"), 1),
        pair="100 rows, one more",
        runs=2 * _FITS,
        **_PUBLISHED,
    ),
    _row(
        "synthcity",
        "PrivBayes, a weak score is dropped without noise",
        partial(_privbayes, "replace_one", _NEAR_THRESHOLD, 1),
        pair="12 rows, one replaced",
        **_PUBLISHED,
    ),
    _row(
        "mostlyai-engine",
        "numeric column, epsilon spent twice",
        _numeric_column,
        pair="62 values, one more",
        runs=4000,
        **_PUBLISHED,
    ),
)
