"""The words of each kind of node: its name, how the tight reading treats it, and the source of that treatment."""

from typing import NamedTuple, assert_never

from dpaudit.model import declaration as nodes
from dpaudit.model import losses
from dpaudit.model.declaration import Declaration
from dpaudit.model.losses import Loss

_COMPOSITION = "Dong, Roth and Su (2022), Theorem 3.2: losses of adaptive releases add up"
_FILTERED = "Bun and Steinke (2016), Lemma 1.7; Whitehouse et al. (2023), Theorem 1, for costs that follow the outputs"
_PARALLEL = "McSherry (2009), Theorem 4; for keys from the public view, joint convexity of the hockey-stick"
_CELLS = "triangle inequality: replacing a record empties one cell and fills another"
_GROUP = "Vadhan (2017), Lemma 2.2; for shifted noise, the shift of all records together"
_SHUFFLE = "Feldman, McMillan and Talwar (2021), Theorem 3.1, with the exact count of clones"
_SUBSAMPLE = "Balle, Barthe and Gaboardi (2018), Theorems 8 and 9; Zhu, Dong and Wang (2022), Theorem 11"
_ALLOCATE = "Blackwell (1953), for mixtures of products; Chua et al. (2024), balls in bins"
_BEST_OF = "Liu and Talwar (2019), Papernot and Steinke (2022), with the exact weight of each output"
_POST_PROCESS = "Dwork and Roth (2014), Proposition 2.1"
_BILLBOARD = "Hsu, Huang, Roth, Roughgarden and Wu (2014), Lemma 9, the billboard lemma"
_LOCAL = "Kasiviswanathan, Lee, Nissim, Raskhodnikova and Smith (2011)"
_STATED = "no proof here: an upper bound taken on trust"


class NodeWords(NamedTuple):
    """The name of a kind of node, its treatment in one short sentence, and the reference for that treatment."""

    name: str
    rule: str
    source: str


def node_words(node: Declaration) -> NodeWords:
    """Return the words of a node."""
    match node:
        case nodes.Release(mechanism=mechanism):
            return NodeWords("Release", "exact loss of the noise", loss_source(mechanism.loss()))
        case nodes.Sequential() | nodes.Repeat() | nodes.Filtered():
            return _words_of_steps(node)
        case nodes.Parallel(key=key):
            return NodeWords("In parallel", f"worst part counts; {key} decides which part a record touches", _PARALLEL)
        case nodes.Cells():
            return NodeWords("Cells", "same cell, or one cell emptied and another filled", _CELLS)
        case nodes.Group(size=size):
            return NodeWords("Group", f"one person owns up to {size:,} records", _GROUP)
        case nodes.Subsample() | nodes.Allocate() | nodes.Shuffle() | nodes.BestOf():
            return _words_of_a_draw(node)
        case nodes.PostProcess(steps=steps):
            return NodeWords(
                "Post-processing", ": ".join(filter(None, ("costs nothing", ", ".join(steps)))), _POST_PROCESS
            )
        case nodes.Billboard(reads=reads):
            return NodeWords("Billboard", f"public, combined with {', '.join(reads) or 'own data'}", _BILLBOARD)
        case nodes.Local():
            return NodeWords("On the device", "one message a user", _LOCAL)
        case nodes.Stated(source=source):
            return NodeWords("Stated", f"taken on trust from {source}", _STATED)
        case _:
            assert_never(node)


def _words_of_steps(node: nodes.Sequential | nodes.Repeat | nodes.Filtered) -> NodeWords:
    """Return the words of parts that follow one another."""
    match node:
        case nodes.Sequential():
            return NodeWords("In sequence", "losses of all parts are composed", _COMPOSITION)
        case nodes.Repeat(times=times):
            return NodeWords("Repeated", f"composed {times:,} times", _COMPOSITION)
        case nodes.Filtered(rho=rho):
            return NodeWords("Within a budget", f"picked step by step, rho at most {rho:g} in all", _FILTERED)
        case _:
            assert_never(node)


def _runs(node: nodes.BestOf) -> str:
    """Return the number of runs in words, with its parameters."""
    if node.law == "fixed":
        return f"{node.runs:,} runs"
    told = ", ".join(
        f"{name} {value:g}" for name in ("gamma", "eta", "mean") if (value := getattr(node, name)) is not None
    )
    return f"a {node.law.replace('_', ' ')} number of runs ({told})"


def _score(node: nodes.BestOf) -> str:
    """Return by what runs are compared, in words."""
    return "any score" if node.scores == "any" else node.score or "a score that is not named"


def _words_of_a_draw(node: nodes.Subsample | nodes.Allocate | nodes.Shuffle | nodes.BestOf) -> NodeWords:
    """Return the words of a node that hides who took part, or where, or how often a part ran."""
    match node:
        case nodes.BestOf():
            return NodeWords("Best run", f"the best of {_runs(node)}, by {_score(node)}", _BEST_OF)
        case nodes.Shuffle(users=users):
            return NodeWords("Shuffle", f"reports of {users:,} users in a secret uniform order", _SHUFFLE)
        case nodes.Allocate(steps=steps, per_epoch=places, epochs=epochs):
            often = f" in each of {epochs:,} epochs" if epochs > 1 else ""
            named = f"at {places:,} secret step{'s' * (places > 1)} of {steps:,}{often}"
            return NodeWords("Allocate", named, _ALLOCATE)
        case nodes.Subsample(rate=rate, scheme=scheme):
            return NodeWords("Subsample", f"sampled at rate {rate:g} ({scheme.replace('_', ' ')})", _SUBSAMPLE)
        case _:
            assert_never(node)


def loss_source(loss: Loss) -> str:
    """Return the reference for the privacy loss of one release."""
    match loss:
        case losses.GaussianLoss():
            return "Balle and Wang (2018), Theorem 8"
        case losses.LaplaceLoss():
            return "Dwork and Roth (2014), Theorem 3.6, with the exact curve of two shifted Laplace laws"
        case losses.ApproximateLoss():
            return "Kairouz, Oh and Viswanath (2015), Theorem 3.3"
        case losses.ConcentratedLoss():
            return "Bun and Steinke (2016), Definition 1.1; Canonne, Kamath and Steinke (2020), Corollary 13"
        case losses.MixtureLoss():
            return "Neyman and Pearson (1933): half lines are the best tests of two mixtures of shifts"
        case losses.SampledLoss() | losses.AverageLoss() | losses.StitchedLoss():
            return "Balle, Barthe and Gaboardi (2018), Theorems 1 and 2"
        case losses.AllocatedLoss():
            return _ALLOCATE
        case losses.SampledGaussianLoss():
            return "Zhu, Dong and Wang (2022), Theorem 11"
        case losses.DiscreteLoss():
            return "the probabilities of its outcomes, outcome by outcome"
        case losses.ChoiceLoss():
            return "Zhu, Dong and Wang (2022), Proposition 8"
        case losses.ComposedLoss(parts=parts):
            count = sum(times for _, times in parts)
            return f"a record meets {count} of its parts; each: {loss_source(parts[0][0])}"
        case _:
            assert_never(loss)
