"""dpmm and SmartNoise Synth: a synthesizer that is not fitted states its claim; MST and AIM show their noise, too."""

import math
from collections import Counter
from contextlib import redirect_stdout
from copy import copy, deepcopy
from io import StringIO
from itertools import pairwise
from sys import modules
from typing import Any

from dpaudit.adapters.calls import Calls
from dpaudit.adapters.noise import noise, release
from dpaudit.adapters.release import LibraryRelease, Question
from dpaudit.errors import UnsupportedError
from dpaudit.model.claim import Claim
from dpaudit.model.declaration import Declaration, Filtered, Repeat, Sequential

_ROWS = 200
_MARGINALS = 0.9
"""The part of rho that AIM spends on marginals; its choices have the rest."""
_NEAR = 1e-9
"""So near to the end of its budget, rounding decides whether AIM goes on."""

_RUNS = "A fit takes from a fifth of a second (AIM of few rounds, MWEM) to minutes; 60 runs show a domain that leaks."


def adapt(subject: Any, question: Question) -> LibraryRelease:
    """Return the release of a synthesizer: `rows` of a synthetic table, 200 unless they are given.

    Every run fits a copy of `subject` to a frame of the pair; the other parameters are those of `fit`. The claim is its
    epsilon, at its own delta or at `delta`. MST with a public domain (`domain` of a model of dpmm, `transformer` of a
    fit of SmartNoise) is declared: both noisy rounds of marginals, with the library's own weights, and the choices
    between them, each at most a third of rho. So is AIM, whose rounds choose their noise on what they have seen, within
    a budget of rho; where its `rounds` leave no more than one choice, by each release. All else is stated. What is
    published is the number of rows of
    each value of each column, unless `released` picks from the table. There are no awkward neighbours: a domain may
    grow with an extreme value, and memory with it.
    Raises: UnsupportedError: no synthesizer, no pair of frames, or other neighbours than `add_remove`.
    """
    name = type(subject).__name__
    draw = getattr(subject, "generate", None) or getattr(subject, "sample", None)
    if draw is None or not hasattr(subject, "epsilon"):
        raise UnsupportedError(f"Expected a synthesizer of {question.library}, got {name}.")
    if question.neighbours != "add_remove" or question.pair is None:
        raise UnsupportedError("Expected neighbours='add_remove' and pair=(frame, frame with a row more or less).")
    delta = question.delta if getattr(subject, "delta", None) is None else subject.delta
    claim = question.claim(float(subject.epsilon), float(delta or 0.0))
    given = dict(question.parameters)
    rows = int(given.pop("rows", _ROWS))
    domain = _domain(subject, given.get("transformer"))
    declaration = None if domain is None else _declared(name, subject, domain, question, claim)

    def call(frame: Any) -> Any:
        model = deepcopy(subject)
        with redirect_stdout(StringIO()):
            model.fit(frame, **given)
            return getattr(model, draw.__name__)(rows)

    return question.answer(
        claim,
        f"{name}.epsilon",
        declaration,
        _because(name, domain),
        text=f"synthesizer {name}",
        function=Calls(call=call, released=question.released or _counted),
        notes=(_RUNS,),
    )


def _because(name: str, domain: dict[str, int] | None) -> str:
    """Return why a synthesizer is not declared."""
    if domain is None:
        return "no public domain is given, and the library takes it from the data"
    return f"the adapter does not know which mechanisms {name} runs"


def _domain(subject: Any, transformer: Any) -> dict[str, int] | None:
    """Return the number of values of each column where they are public; None where the library takes them from data."""
    if transformer is not None:
        sizes = getattr(transformer, "cardinality", None) or ()
        return {f"column {number}": int(size or 0) for number, size in enumerate(sizes)}
    domain = getattr(subject, "domain", None)
    return None if domain is None else {str(name): int(size) for name, size in domain.items()}


def _declared(name: str, subject: Any, domain: dict[str, int], question: Question, claim: Claim) -> Declaration | None:
    """Return the mechanisms of MST or of AIM, None for all else.

    rho is what the library's own `cdp_rho` makes of its claim. Models with structural zeros are not declared.
    """
    generator = getattr(subject, "generator", subject)
    rho = getattr(modules[type(generator).__module__], "cdp_rho", lambda *_: 0.0)(claim.epsilon, claim.delta)
    rho = float(getattr(generator, "rho", None) or rho)
    if not rho > 0 or getattr(generator, "structural_zeros", None):
        return None
    if name.startswith("MST"):
        return _mst(generator, rho, question)
    return _aim(generator, rho, domain, question) if name.startswith("AIM") else None


def _mst(generator: Any, rho: float, question: Question) -> Declaration | None:
    """Return two rounds of Gaussian marginals and, between them, choices of pairs by the exponential mechanism.

    Of two columns there is one pair: a choice among one reads no data, and is no release.
    Source: McKenna, Miklau and Sheldon (2021), Algorithm 2.
    """
    names = [] if question.pair is None else list(question.pair[0].columns)
    choices = len(names) - 1
    stddev = math.sqrt(3 / (2 * rho))
    marginals = noise("MST marginals", "gaussian", stddev, 1.0, question.neighbours)
    if marginals is None or choices < 1:
        return marginals
    pairs = noise("MST marginals", "gaussian", stddev / _moved(generator, names), 1.0, question.neighbours)
    if pairs is None or choices == 1:
        return pairs and Sequential(parts=(marginals, pairs))
    share = math.sqrt(8 * rho / 3 / choices)
    pick = release("MST choice of a pair", "exponential", question.neighbours, epsilon=share, linf_sensitivity=1.0)
    return pick and Sequential(parts=(marginals, Repeat(part=pick, times=choices), pairs))


def _aim(generator: Any, rho: float, domain: dict[str, int], question: Question) -> Declaration | None:
    """Return the marginals of all columns, and choices each with the marginal that it chose, within a budget of rho.

    AIM stops where what is left of rho pays for fewer than two rounds, which the last choice then spends. If so after
    the columns, nothing depends on what was measured, and every release is declared. Where the columns alone take more
    than rho, nothing is left, and they are all. The workload is drawn without the data, and may leave columns out.
    Source: McKenna, Mullins, Sheldon and Miklau (2022), Algorithm 2, with alpha = 0.9.
    """
    columns, rounds = len(domain), generator.rounds or 16 * len(domain)
    largest = math.prod(sorted(domain.values())[-generator.degree :])
    left = rho - columns * _MARGINALS * rho / rounds
    single = noise("AIM marginal of a column", "gaussian", _stddev(rho / rounds), 1.0, question.neighbours)
    if single is None or left <= 0:
        return single and Repeat(part=single, times=columns)
    all_marginals_fit = generator.num_marginals is None and 0 < largest <= generator.max_cells
    once = all_marginals_fit and left <= 2 * rho / rounds * (1 - _NEAR)
    first = left if once else rho / rounds
    share = math.sqrt(8 * (1 - _MARGINALS) * first)
    pick = release("AIM choice of a marginal", "exponential", question.neighbours, epsilon=share, linf_sensitivity=1.0)
    chosen = noise("AIM chosen marginal", "gaussian", _stddev(first), 1.0, question.neighbours)
    if pick is None or chosen is None:
        return None
    if once:
        return Sequential(parts=(Repeat(part=single, times=columns), pick, chosen))
    return Filtered(parts=(single, pick, chosen), rho=rho)


def _stddev(rho: float) -> float:
    """Return the noise of a marginal on which AIM spends its part of a round's rho."""
    return math.sqrt(1 / (2 * _MARGINALS * rho))


def _moved(generator: Any, names: list[str]) -> float:
    """Return how far a record moves the weighted marginals of pairs in units of noise, as the library weighs them.

    dpmm 0.1.9 weighs one pair fewer than there are columns as if there were as many, so that it adds more noise.
    """
    if not hasattr(generator, "_measure"):
        return 1.0
    weighing = copy(generator)
    weighing.cliques, weighing.n_jobs = [(name,) for name in names], 1
    vars(weighing)["_measure"] = lambda _, clique, weight, *other_arguments: float(weight)
    return math.hypot(*weighing.measure(None, cliques=list(pairwise(names)), flatten=True))


def _counted(table: Any) -> dict[str, int]:
    """Return how many rows of a table have each value of each column, by column and value."""
    cells = Counter(f"{column}={value}" for column in table.columns for value in table[column])
    return dict(sorted(cells.items()))
