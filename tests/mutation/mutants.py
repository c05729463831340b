"""The planted defects, read from `tables/`: one piece of text each, what shows it, and who must catch it."""

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.planting import Source

ROOT = Path(__file__).parents[2]
TABLES = Path(__file__).with_name("tables")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """At `place`, a file or a function ("module:name"), `new` stands where `old` stood once.

    `on` names the configurations, inputs or mechanisms that show it; `caught_by` the rule, or kind and subject of the
    condition, that must catch it, where the table says so.
    """

    name: str
    place: str
    old: str
    new: str
    says: str = ""
    on: tuple[str, ...] = ()
    caught_by: tuple[str, ...] = ()

    @property
    def function(self) -> str:
        """The function that holds the text, as "module:name" or "module:Class.name"; empty where none does."""
        if ":" in self.place:
            return self.place
        before, _, _ = (ROOT / self.place).read_text(encoding="utf-8").partition(self.old)
        first = before.count("\n") + 1
        module = ".".join(Path(self.place).with_suffix("").parts)
        tree = ast.parse((ROOT / self.place).read_text(encoding="utf-8"))
        lines = {first, first + self.old.count("\n")}
        return next((f"{module}:{name}" for name, span in _functions(tree) if lines <= span), "")

    @property
    def defect(self) -> Source:
        """What is planted in the running code, for a mutant that stands in a function."""
        outer = "\n" + "    " * self.function.partition(":")[2].count(".") * (":" not in self.place)
        old, new = (f"\n{text}".replace(outer, "\n")[1:] for text in (self.old, self.new))
        return Source(target=self.function, old=old, new=new)

    def planted_text(self) -> str:
        """Return the text of the file with the defect in it, for a place that is a file.

        Raises: ValueError: the sound text does not stand in the file exactly once.
        """
        text = (ROOT / self.place).read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise ValueError(
                f"Expected {self.old!r} once in {self.place}, got {text.count(self.old)} of {self.name!r}."
            )
        return text.replace(self.old, self.new)


def _functions(tree: ast.Module) -> Iterator[tuple[str, set[int]]]:
    """Yield the functions of a module and of its classes, each with its lines."""
    for node in tree.body:
        for inner in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(inner, ast.FunctionDef):
                name = f"{node.name}.{inner.name}" if isinstance(node, ast.ClassDef) else inner.name
                yield name, set(range(inner.lineno, (inner.end_lineno or inner.lineno) + 1))


def table(name: str, *kinds: str) -> tuple[Mutant, ...]:
    """Return the rows of a table that are of the given kinds, such as "breaking" or "harmless"."""
    rows = tomllib.loads((TABLES / f"{name}.toml").read_text(encoding="utf-8"))
    return tuple(
        Mutant(**row | {field: tuple(row.get(field, ())) for field in ("on", "caught_by")})
        for kind in kinds
        for row in rows.get(kind, ())
    )


CONFIGURATIONS: dict[str, str] = tomllib.loads((TABLES / "configurations.toml").read_text(encoding="utf-8"))
"""The text of each configuration on which defects of algorithms show, by name."""

BREAKING = tuple(
    mutant
    for name in ("algorithms", "samplers", "programs", "classes")
    for mutant in table(name, "breaking", "obvious", "subtle")
)
"""What breaks privacy in the shipped algorithms."""

HARMLESS = tuple(mutant for name in ("algorithms", "programs", "classes") for mutant in table(name, "harmless"))
"""What changes the results of algorithms and no guarantee: nobody may accuse it."""
