"""Workers: run tasks in this process, in other processes, or on a dask cluster, with the same results."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

from dpaudit import UnsupportedError

T = TypeVar("T")

_TIMEOUT = "20s"


def perform(tasks: Sequence[Callable[[], T]], jobs: int, scheduler: str | None) -> Iterator[T]:
    """Yield the results of the tasks in order, each as soon as it is available.

    `scheduler` is the address of a dask cluster that runs every task; None runs them here, in `jobs` processes.
    Raises: UnsupportedError: dask is not installed, or no scheduler answers at the address.
    """
    if scheduler is None and (jobs == 1 or len(tasks) < 2):
        yield from (task() for task in tasks)
        return
    from joblib import Parallel, delayed

    with nullcontext() if scheduler is None else _cluster(scheduler):
        parallel: Any = Parallel(n_jobs=jobs if scheduler is None else -1, return_as="generator")
        yield from parallel(delayed(_call)(task) for task in tasks)


@contextmanager
def _cluster(scheduler: str) -> Generator[None, None, None]:
    """Make joblib send its tasks to the cluster at an address."""
    try:
        from distributed import Client
    except ImportError:
        raise UnsupportedError("A dask cluster needs the extra 'dask': pip install 'dpaudit[dask]'.") from None
    from joblib import parallel_config

    connect: Any = Client
    try:
        client = connect(scheduler, timeout=_TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UnsupportedError(
            f"No dask scheduler answers at {scheduler!r} ({error}); expected tcp://host:port."
        ) from None
    with client, parallel_config(backend="dask", client=client):
        yield


def _call(task: Callable[[], T]) -> T:
    """Return the result of a task; a module-level function can be pickled for other processes."""
    return task()
