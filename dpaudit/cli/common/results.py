"""Commands that end with a result: a document, plain data, and the options by which it is written.

Such a command returns a `Result`; `--format` and `--output` are added to its own options, and are read here alone.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpaudit.cli.common.exits import Exit, ending
from dpaudit.cli.common.options import Format, Output, OutputFormat, grouped

if TYPE_CHECKING:
    from dpaudit.documents.document import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a command found: a document for people, plain data (or JSON text) for scripts, and the exit code.

    `text` stands in place of both where a result has one form only. `then` is what the command still does once its
    result is written.
    """

    document: "Callable[[], Document] | None" = None
    data: Callable[[], Any] | None = None
    text: Callable[[], str] | None = None
    code: Exit = Exit.PASS
    then: Callable[[], object] | None = None


def resulting(command: Callable[..., Result]) -> Callable[..., None]:
    """Return `command` in the form that typer calls, with `--format` and `--output` beside its own options."""
    called = grouped(command)

    @wraps(called)
    def run(*, style: Format = "text", output: Path | None = None, **given: Any) -> Exit:
        from dpaudit.cli.common.output import emit, put

        result: Result = called(**given)
        if result.document is not None and result.data is not None:
            emit(result.document, result.data, style, output)
        elif result.text is not None:
            put(result.text(), output)
        if result.then is not None:
            result.then()
        return result.code

    own = inspect.signature(called)
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, default, kind in (("style", "text", OutputFormat), ("output", None, Output))
    ]
    vars(run)["__signature__"] = own.replace(parameters=[*own.parameters.values(), *added], return_annotation=Exit)
    stated = {name: entry.annotation for name, entry in own.parameters.items()}
    run.__annotations__ = {**stated, "style": OutputFormat, "output": Output, "return": Exit}
    return ending(run)
