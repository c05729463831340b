"""State kept between calls: calls in copies of the process that serve one data set, beside calls that follow others."""

import os
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from signal import SIGKILL
from typing import Any, TypeVar

from audits.experiment.global_generators import other_sources, states_within_reach
from audits.replay.coverage_pairs import Pair
from audits.replay.one_call import Call, Player
from dpaudit import UnsupportedError
from dpaudit.model.case import Run

Answer = TypeVar("Answer")

_SECONDS, _STREAM = 5.0, 9_311

_UNLIKE = 3
"""In so many data sets state is looked for that other data left."""

_MANY = 1 << 30
_COPIES = 8
"""So many copies of the process stand at a time."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FreshPlayer(Player):
    """Makes the calls on each data set in a copy of the process as it was before any call, which serves no other data.

    `link` leads to the process that copies.
    """

    link: "Connection[Any, Any]"

    def frames(self, data: Any, *seed: int) -> int:
        """Return a large number: a copy of the process costs more than what a call enters."""
        return _MANY

    def call(self, data: Any, *seed: int, **moves: Any) -> Call:
        """Return one call; see `Player`. Raises: DPAuditError: an unreadable output, or none."""
        return self.asked(Player.call, data, *seed, **moves)

    def watched(self, data: Any, *seed: int, traced: bool = True) -> Call:
        """Return one call without additive noise; see `Player`. Raises: DPAuditError: an unreadable output, or none."""
        return self.asked(Player.watched, data, *seed, traced=traced)

    def asked(self, question: Callable[..., Answer], data: Any, *arguments: Any, **more: Any) -> Answer:
        """Return what a question about a player and a data set answers in the copy of the process for this data set.

        Raises: UnsupportedError: a data set that no other process can be sent, or no answer within five seconds.
        """
        settings = {"seconds": self.seconds, "without": self.without, "usual": dict(self.usual)}
        try:
            self.link.send((id(data), (question, settings, (data, *arguments), more)))
            answer = self.link.recv() if self.link.poll(_SECONDS) else []
        except Exception as error:  # of data that no other process can be sent
            raise UnsupportedError(f"A call in a copy of the process is not possible: {error}") from None
        if not answer:
            raise UnsupportedError("A call in a copy of the process ended without an answer.")
        return answer[0]


@contextmanager
def fresh_player(player: Player) -> Iterator[FreshPlayer | None]:
    """Yield a player whose first call on each data set finds the process as it is now.

    None where processes cannot be copied, or where other threads run: a copy of the process has their locks without
    them.
    """
    if not hasattr(os, "fork") or threading.active_count() > 1:
        yield None
        return
    ours, theirs = Pipe()
    child = _copied()
    if child == 0:
        with suppress(BaseException):
            ours.close()  # so that this process ends where the other end is gone
            os.setpgid(0, 0)
            _serve(theirs, player.run)
        os._exit(0)
    with suppress(OSError):
        os.setpgid(child, child)
    try:
        yield FreshPlayer(run=player.run, seconds=player.seconds, link=ours)
    finally:
        os.killpg(child, SIGKILL)
        os.waitpid(child, 0)
        ours.close()
        theirs.close()


def fresh_digests(fresh: FreshPlayer | None, pairs: Sequence[Pair]) -> list[tuple[Any, str]]:
    """Return some data sets, each with a digest of what a first call on it returns.

    The digest is empty where nothing is known: there is no answer, two calls on one stream differ, or there is other
    randomness, which copies of the process repeat.
    """
    if fresh is None:
        return []
    inside = [pair for pair in pairs if not pair.outside] or pairs
    others = [inside[0].neighbours[1], inside[-1].neighbours[1], *(pair.neighbours[0] for pair in inside if pair.small)]
    digests: list[tuple[Any, str]] = []
    for data in others[:_UNLIKE]:
        with suppress(UnsupportedError):
            digests.append((data, fresh.asked(_repeated_digest, data)))
    return digests


def keeps_state(player: Player, digests: Sequence[tuple[Any, str]], other: Any) -> bool:
    """Return whether calls now, after a call on `other`, return something else than first calls did."""
    for data, digest in digests:
        player.call(other, _STREAM)  # what it leaves behind shows in the next call
        if digest and output_digest(player, data) != digest:
            return True
    return False


def output_digest(player: Player, data: Any) -> str:
    """Return a digest of what a call on the fixed stream returns."""
    columns = player.call(data, _STREAM).columns
    return blake2b(repr(sorted(columns.items())).encode(), digest_size=16).hexdigest()


def _repeated_digest(player: Player, data: Any) -> str:
    """Return the digest of two calls; empty where they differ or ask another source of randomness than rng."""
    function = getattr(player.run, "function", player.run)
    before = states_within_reach(function)
    digests, sources = other_sources(lambda: {output_digest(player, data) for _ in range(2)})
    drawn = sources or states_within_reach(function) != before
    return "" if drawn or len(digests) > 1 else digests.pop()


def _serve(link: "Connection[Any, Any]", run: Run) -> None:
    """Pass every question on to the copy of this process for its data set; nothing is the answer where that ends."""
    copies: dict[int, Connection[Any, Any]] = {}
    while True:
        key, asked = link.recv()
        copies[key] = copy = copies.pop(key) if key in copies else _copy(run, (link, *copies.values()))
        try:
            copy.send(asked)
            answer = copy.recv()
        except (OSError, EOFError):
            answer = []
        link.send(answer)
        if not answer or len(copies) > _COPIES:
            copies.pop(key if not answer else next(iter(copies))).close()


def _copy(run: Run, links: "Sequence[Connection[Any, Any]]") -> "Connection[Any, Any]":
    """Return what leads to a new copy of this process without its `links`; it ends where the other end is closed."""
    ours, theirs = Pipe()
    if _copied() == 0:
        for link in (ours, *links):
            link.close()
        with suppress(BaseException):
            while True:
                _answer(theirs, run)
        os._exit(0)
    theirs.close()
    return ours


def _answer(link: "Connection[Any, Any]", run: Run) -> None:
    """Answer one question; of a call whose output no other process can be sent, all but this output."""
    question, settings, arguments, more = link.recv()
    answer = question(Player(run=run, **settings), *arguments, **more)
    try:
        link.send([answer])
    except Exception:  # objects of many kinds cannot be sent, each with an error of its own
        link.send([replace(answer, returned=None)])


def _copied() -> int:
    """Return 0 in a copy of this process, and the number of the copy here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()
