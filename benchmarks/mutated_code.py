"""Defects of code that nobody thought of: every premise, term, side and count of a module, changed one at a time."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from textwrap import dedent

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
    """Yield each function of a module with each of its changes; what an error says is not changed."""
    path = ROOT / Path(*module.split(".")).with_suffix(".py")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    starts, tree = [0, *accumulate(map(len, lines))], ast.parse("".join(lines))
    errors = (
        inside for node in ast.walk(tree) if isinstance(node, ast.JoinedStr | ast.Raise) for inside in ast.walk(node)
    )
    words = set(map(id, errors))
    for function, name in _functions(tree):
        first = starts[min([function.lineno, *(node.lineno for node in function.decorator_list)]) - 1]
        old = "".join(lines)[first : starts[function.end_lineno or 0]]
        inner = [node for statement in function.body for node in ast.walk(statement) if id(node) not in words]
        for node in (expression for expression in inner if isinstance(expression, ast.expr)):
            last = node.end_lineno or node.lineno
            begin = starts[node.lineno - 1] + node.col_offset - first
            end = starts[last - 1] + (node.end_col_offset or 0) - first
            for new in map(ast.unparse, changes(node)):
                text = dedent(f"{old[:begin]}({new}){old[end:]}")
                yield Changed(
                    source=Source(target=f"{module}:{name}", old=dedent(old), new=text),
                    file=str(path),
                    lines=range(node.lineno, last + 1),
                    said=f"{old[begin:end]} -> {new}",
                )


def _functions(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef, str]]:
    """Yield the functions of a module and of its classes with their names."""
    for outer in tree.body:
        for inner in outer.body if isinstance(outer, ast.ClassDef) else [outer]:
            if isinstance(inner, ast.FunctionDef):
                yield inner, f"{outer.name}.{inner.name}" if isinstance(outer, ast.ClassDef) else inner.name
