"""Defects of code that nobody thought of: every premise, term, side and count of a module, changed one at a time."""

import ast
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.mutation.planting import Source

ROOT = Path(__file__).parent.parent
TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_OPPOSITES = ("min max", "floor ceil", "minimum maximum", "any all", "both_orders open_orders")
CALLS = {one: other for pair in map(str.split, _OPPOSITES) for one, other in (pair, pair[::-1])}
LEFT_OUT = {"chain", "chained", "worst", "joint", "heaviest", "in_any_order", "in_either_order"}
"""Functions of something of the same kind, which comes first."""
ONE = {"rate", "records", "epochs", "per_epoch", "times", "users", "steps"}
"""What a defect takes as one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A function with one change: what is planted, the lines of what is changed, and what the change is."""

    source: Source
    file: str
    lines: range
    said: str


def changes(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what may stand in the place of an expression: a part of it, or a word turned round."""
    match node:
        case ast.BinOp(left=left, right=right):
            yield from (left, right)
        case ast.IfExp(body=body, orelse=orelse):
            yield from (body, orelse)
        case ast.BoolOp(op=op, values=values):
            yield from (ast.BoolOp(op=op, values=[other for other in values if other is not one]) for one in values)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.Call(func=ast.Attribute(value=value, attr="reversed")):
            yield value
        case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in LEFT_OUT:
            yield first
        case _:
            yield from _turned(node)


def _turned(node: ast.AST) -> Iterator[ast.expr]:
    """Yield a comparison, a number or a name with another one in its place."""
    match node:
        case ast.Compare(left=left, ops=[op, *more], comparators=right) if type(op) in TURNED:
            yield ast.Compare(left=left, ops=[TURNED[type(op)](), *more], comparators=right)
        case ast.Constant(value=bool(value)):
            yield ast.Constant(value=not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value=value - 1 if value else 1)
        case ast.Name(id=name) if name in CALLS:
            yield ast.Name(id=CALLS[name])
        case ast.Attribute(value=value, attr=name) if name in CALLS:
            yield ast.Attribute(value=value, attr=CALLS[name])
        case ast.Attribute(attr=name) if name in ONE:
            yield ast.Constant(value=1)


def changed(module: str) -> Iterator[Changed]:
    """Yield each function of a module with each of its changes."""
    path = ROOT / Path(*module.split(".")).with_suffix(".py")
    text = path.read_text(encoding="utf-8")
    for outer in ast.parse(text).body:
        for function in outer.body if isinstance(outer, ast.ClassDef) else [outer]:
            if isinstance(function, ast.FunctionDef):
                name = f"{outer.name}.{function.name}" if isinstance(outer, ast.ClassDef) else function.name
                first = min([function.lineno, *(node.lineno for node in function.decorator_list)])
                old = textwrap.dedent("\n".join(text.splitlines()[first - 1 : function.end_lineno])) + "\n"
                planted = partial(Source, target=f"{module}:{name}", old=old)
                for node, said, new in _texts(function):
                    lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                    yield Changed(source=planted(new=new), file=str(path), lines=lines, said=said)


def _texts(function: ast.FunctionDef) -> Iterator[tuple[ast.expr, str, str]]:
    """Yield each expression that is changed, what the change is, and the text of the function with it."""
    for parent, field, i, node in list(_expressions(function)):
        siblings = getattr(parent, field)
        for new in changes(node):
            held = siblings[i] if isinstance(siblings, list) else siblings
            _put(parent, field, i, new)
            yield node, f"{ast.unparse(node)} -> {ast.unparse(new)}", ast.unparse(function) + "\n"
            _put(parent, field, i, held)


def _expressions(function: ast.FunctionDef) -> Iterator[tuple[ast.AST, str, int, ast.expr]]:
    """Yield the expressions of a function's statements, each with its place; what an error says is none."""
    todo: list[ast.AST] = [*function.body]
    while todo:
        parent = todo.pop()
        for field, held in ast.iter_fields(parent):
            for i, node in enumerate(held if isinstance(held, list) else [held]):
                words = isinstance(node, ast.JoinedStr | ast.Raise) or field in ("annotation", "returns")
                if isinstance(node, ast.AST) and not words:
                    todo.append(node)
                    if isinstance(node, ast.expr):
                        yield parent, field, i, node


def _put(parent: ast.AST, field: str, i: int, node: ast.expr) -> None:
    """Put an expression in its place."""
    held = getattr(parent, field)
    if isinstance(held, list):
        held[i] = node
    else:
        setattr(parent, field, node)
