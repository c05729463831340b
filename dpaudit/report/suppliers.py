"""The suppliers of a declaration that states everything and declares no release of its own."""

from dpaudit.model.declaration import Declaration, Release, Stated, walk


def suppliers_of(declaration: Declaration) -> tuple[str, ...]:
    """Return the sources of the stated parts if nothing but stated parts is declared; an empty tuple otherwise.

    >>> suppliers_of(Stated(epsilon=1, source="a data sheet"))
    ('a data sheet',)
    """
    leaves = [node for _, node in walk(declaration) if isinstance(node, Release | Stated)]
    sources = tuple(dict.fromkeys(node.source for node in leaves if isinstance(node, Stated)))
    return () if any(isinstance(node, Release) for node in leaves) else sources
