"""Name scopes: the prefix that names of new variables get, kept per thread."""

import threading


class _Scopes(threading.local):
    def __init__(self):
        self.current = ""
        self.outer = []


_scopes = _Scopes()


def current_scope() -> str:
    """The current prefix: empty, or ending in a slash, such as `"model/dense/"`."""
    return _scopes.current


class name_scope:  # noqa: N801 (a name of the public API)
    """A context in which the names of new variables start with `name/`.

    Scopes nest: `"b"` inside `"a"` gives `a/b/`. A name that ends in a slash is taken as it is,
    which re-enters a scope from anywhere; the empty name returns to the outermost scope. Entering
    the same name twice gives the same prefix twice.

    Args:
        name: The scope's name.

    Raises:
        ValueError: `name` is not a string.

    Example:
        >>> with name_scope("encoder"), name_scope("dense") as prefix:
        ...     print(prefix)
        encoder/dense/
    """

    __slots__ = ("_name",)

    def __init__(self, name):
        if not isinstance(name, str):
            raise ValueError(f"name for name_scope must be a string. Received: name={name!r}")
        self._name = name

    @property
    def name(self):
        return self._name

    def __enter__(self):
        name = self._name
        scopes = _scopes
        scopes.outer.append(scopes.current)
        if name and not name.endswith("/"):
            name = f"{scopes.current}{name}/"
        scopes.current = name
        return name

    def __exit__(self, *exception_info):
        _scopes.current = _scopes.outer.pop()
        return False
