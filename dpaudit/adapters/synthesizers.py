"""dpmm and SmartNoise Synth: a synthesizer that is not fitted yet states epsilon and delta, and MST its budget."""

import math
from collections import Counter
from contextlib import redirect_stdout
from copy import copy, deepcopy
from io import StringIO
from itertools import pairwise
from sys import modules
from typing import Any

from dpaudit.adapters.calls import Calls, published
from dpaudit.adapters.finding import ADAPTERS, installed_version, package_of
from dpaudit.adapters.noise import noise, release
from dpaudit.adapters.release import LibraryRelease, Question, stated
from dpaudit.errors import UnsupportedError
from dpaudit.model.declaration import Declaration, Repeat, Sequential

_ROWS = 200
_RUNS = "A fit takes from a fifth of a second (AIM of few rounds, MWEM) to minutes; 60 runs show a domain that leaks."


def adapt(subject: Any, question: Question) -> LibraryRelease:
    """Return the release of a synthesizer: `rows` of a synthetic table, 200 unless they are given.

    Every run fits a copy of `subject` to a frame of the pair; the other parameters are those of `fit`. The claim is its
    epsilon, at its own delta or at `delta`. MST with a public domain (`domain` of a model of dpmm, `transformer` of a
    fit of SmartNoise) is declared: both noisy rounds of marginals, with the library's own weights, and the choices
    between them, each at most a third of rho. All else is stated: AIM chooses its rounds on what it has seen. What is
    published is the number of rows of each value of each column, unless `released` picks from the table. There are no
    awkward neighbours: a domain may grow with an extreme value, and memory with it.
    Raises: UnsupportedError: no synthesizer, no pair of frames, or other neighbours than `add_remove`.
    """
    package = package_of(subject)
    library = ADAPTERS[package][0]
    version, name = installed_version(library), type(subject).__name__
    draw = getattr(subject, "generate", None) or getattr(subject, "sample", None)
    if draw is None or not hasattr(subject, "epsilon"):
        raise UnsupportedError(f"Expected a synthesizer of {library}, got {name}.")
    if question.neighbours != "add_remove" or question.pair is None:
        raise UnsupportedError("Expected neighbours='add_remove' and pair=(frame, frame with a row more or less).")
    delta = question.delta if getattr(subject, "delta", None) is None else subject.delta
    claim = question.claim(float(subject.epsilon), float(delta or 0.0))
    given = dict(question.parameters)
    rows = int(given.pop("rows", _ROWS))
    public = given.get("transformer") is not None or getattr(subject, "domain", None) is not None
    declaration = _mst(subject, claim.epsilon, claim.delta, question) if public and name.startswith("MST") else None

    def call(frame: Any) -> Any:
        model = deepcopy(subject)
        with redirect_stdout(StringIO()):
            model.fit(frame, **given)
            return getattr(model, draw.__name__)(rows)

    return LibraryRelease(
        library=library,
        version=version,
        text=f"synthesizer {name}",
        claim=claim,
        source=f"{name}.epsilon",
        declaration=declaration or stated(claim, library, version, f"{name}.epsilon"),
        stated_because="" if declaration else _because(name, public),
        function=Calls(call=published(call, question.released or _counted)),
        pair=question.pair,
        reproducible=False,
        notes=(_RUNS,),
    )


def _because(name: str, public: bool) -> str:  # noqa: FBT001 - a fact about the object
    """Return why a synthesizer is not declared."""
    if not public:
        return "no public domain is given, and the library takes it from the data"
    return f"the adapter does not know which mechanisms {name} runs"


def _mst(subject: Any, epsilon: float, delta: float, question: Question) -> Declaration | None:
    """Return two rounds of Gaussian marginals and, between them, choices of pairs by the exponential mechanism.

    Source: McKenna, Miklau and Sheldon (2021), Algorithm 2; rho is what the library's own `cdp_rho` makes of its claim.
    """
    names = [] if question.pair is None else list(question.pair[0].columns)
    columns = len(names)
    generator = getattr(subject, "generator", subject)
    rho = getattr(modules[type(generator).__module__], "cdp_rho", lambda *_: 0.0)(epsilon, delta)
    if not rho > 0:
        return None
    stddev = math.sqrt(3 / (2 * rho))
    marginals = noise("MST marginals", "gaussian", stddev, 1.0, question.neighbours)
    if marginals is None or columns < 2:
        return marginals
    pairs = noise("MST marginals", "gaussian", stddev / _moved(generator, names), 1.0, question.neighbours)
    share = math.sqrt(8 * rho / 3 / (columns - 1))
    pick = release("MST choice of a pair", "exponential", question.neighbours, epsilon=share, linf_sensitivity=1.0)
    if pick is None or pairs is None:
        return None
    return Sequential(parts=(marginals, Repeat(part=pick, times=columns - 1), pairs))


def _moved(generator: Any, names: list[str]) -> float:
    """Return how far a record moves the weighted marginals of pairs in units of noise, as the library weighs them.

    dpmm 0.1.9 weighs one pair fewer than there are columns as if there were as many, so that it adds more noise.
    """
    if not hasattr(generator, "_measure"):
        return 1.0
    weighing = copy(generator)
    weighing.cliques, weighing.n_jobs = [(name,) for name in names], 1
    vars(weighing)["_measure"] = lambda _, clique, weight, *rest: float(weight)
    return math.hypot(*weighing.measure(None, cliques=list(pairwise(names)), flatten=True))


def _counted(table: Any) -> dict[str, int]:
    """Return how many rows of a table have each value of each column, by column and value."""
    cells = Counter(f"{column}={value}" for column in table.columns for value in table[column])
    return dict(sorted(cells.items()))
