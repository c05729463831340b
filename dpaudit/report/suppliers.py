"""The suppliers of a declaration: whose word its stated parts are, and whether it has other parts."""

from dpaudit.model.declaration import Declaration, Release, Stated, walk


def suppliers_of(declaration: Declaration) -> tuple[str, ...]:
    """Return the sources of all stated parts, each once; an empty tuple where no part is stated.

    >>> suppliers_of(Stated(epsilon=1, source="a data sheet"))
    ('a data sheet',)
    """
    stated = (node.source for _, node in walk(declaration) if isinstance(node, Stated))
    return tuple(dict.fromkeys(stated))


def is_stated_alone(declaration: Declaration) -> bool:
    """Return whether a declaration has stated parts and no release of its own.

    >>> is_stated_alone(Stated(epsilon=1, source="a data sheet"))
    True
    """
    return bool(suppliers_of(declaration)) and not any(isinstance(node, Release) for _, node in walk(declaration))
