"""Nested structures: lists, tuples, mappings and the like, whose leaves are anything else.

Mappings are visited in the order of their sorted keys, so that two dictionaries with the same keys
always line up; rebuilt ones keep their own key order. Strings, arrays, sets and None are leaves.
Composites (values made of several tensors, marked by a class attribute `_is_composite`) are leaves
too, unless `expand_composites=True` opens them into their components.
"""

from collections import abc

from .containers import (
    container_of,
    is_composite,
    is_namedtuple_class,
    leaf_classes,
    opened_leaf_classes,
)


def is_nested(seq):
    """Whether `seq` is a structure (perhaps an empty one) rather than a leaf."""
    return container_of(seq, False) is not None


def flatten(structure, expand_composites=False):
    """The leaves of `structure`, as a new list.

    Example:
        >>> flatten({"b": 1, "a": (2, [3])})
        [2, 3, 1]
    """
    known_leaves = opened_leaf_classes if expand_composites else leaf_classes
    cls = type(structure)
    if cls in known_leaves:
        return [structure]
    if (cls is list or cls is tuple) and known_leaves.issuperset(map(type, structure)):
        return list(structure)
    leaves = []
    _collect(structure, expand_composites, known_leaves, leaves)
    return leaves


def pack_sequence_as(structure, flat_sequence, expand_composites=False):
    """A structure like `structure` whose leaves are the items of `flat_sequence`, in order.

    Raises:
        TypeError: `flat_sequence` is not a sequence.
        ValueError: It has more or fewer items than `structure` has leaves.
    """
    known_leaves = opened_leaf_classes if expand_composites else leaf_classes
    cls = type(structure)
    if type(flat_sequence) is list:
        if cls in known_leaves and len(flat_sequence) == 1:
            return flat_sequence[0]
        if (
            (cls is list or cls is tuple)
            and len(structure) == len(flat_sequence)
            and known_leaves.issuperset(map(type, structure))
        ):
            return cls(flat_sequence)
    if not is_nested(flat_sequence) or isinstance(flat_sequence, abc.Mapping):
        raise TypeError(
            f"Attempted to pack value:\n  {flat_sequence!s}\ninto a structure, but found "
            f"incompatible type `{type(flat_sequence)}` instead."
        )
    if container_of(structure, expand_composites) is None:
        if len(flat_sequence) != 1:
            raise ValueError(
                f"The target structure is of type `{type(structure)}`\n  {structure!s}\n"
                f"However the input is a sequence ({type(flat_sequence)}) of length "
                f"{len(flat_sequence)}.\n  {flat_sequence!s}\n"
                "nest cannot guarantee that it is safe to map one to the other."
            )
        return next(iter(flat_sequence))
    count = len(flatten(structure, expand_composites))
    if count != len(flat_sequence):
        raise ValueError(
            f"Could not pack sequence. Structure had {count} atoms, but flat_sequence had "
            f"{len(flat_sequence)} items.  Structure: {structure!s}, "
            f"flat_sequence: {flat_sequence!s}."
        )
    return _pack(structure, iter(flat_sequence), expand_composites)


def map_structure(func, *structure, **kwargs):
    """Calls `func` with the corresponding leaves of every structure; results in the first's form.

    Args:
        func: A callable that takes as many arguments as there are structures.
        *structure: Structures of the same form.
        **kwargs: `check_types` (True) and `expand_composites` (False), as in
            `assert_same_structure`.

    Raises:
        TypeError: `func` is not callable, or the structures' types differ.
        ValueError: The structures differ in form, or none was given.

    Example:
        >>> map_structure(lambda a, b: a + b, {"x": 1, "y": [2]}, {"x": 10, "y": [20]})
        {'x': 11, 'y': [22]}
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func!s}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = kwargs.pop("check_types", True)
    expand_composites = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(
            "Only valid keyword arguments are `check_types` and `expand_composites`, not: "
            f"`{'`, `'.join(kwargs)}`"
        )
    first = structure[0]
    for other in structure[1:]:
        assert_same_structure(first, other, check_types, expand_composites)
    columns = [flatten(one, expand_composites) for one in structure]
    results = [func(*leaves) for leaves in zip(*columns, strict=True)]
    return pack_sequence_as(first, results, expand_composites)


def assert_same_structure(nest1, nest2, check_types=True, expand_composites=False):
    """Raises unless the two structures have the same form; leaves may be of any kind.

    Args:
        nest1: A structure.
        nest2: Another.
        check_types: Whether containers must have the same types too. All mappings count as one
            type, lists and their subclasses as another; namedtuples are the same if their names
            and fields are.
        expand_composites: Whether composites must correspond as well.

    Raises:
        ValueError: The nesting, the lengths or the keys differ.
        TypeError: The types of two containers differ.
    """
    try:
        _compare(nest1, nest2, check_types, expand_composites)
    except _MismatchError as mismatch:
        raise mismatch.error_class(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {_describe(nest1)}\n\nSecond structure: {_describe(nest2)}\n\n"
            f"More specifically: {mismatch}\n"
            f"Entire first structure:\n{_outline(nest1)}\n"
            f"Entire second structure:\n{_outline(nest2)}"
        ) from None


def flatten_with_tuple_paths(structure, expand_composites=False):
    """Pairs of a path (a tuple of keys, field names and indices) and the leaf found there."""
    found = []
    _collect_with_paths(structure, expand_composites, (), found)
    return found


def flatten_with_joined_string_paths(structure, separator="/", expand_composites=False):
    """Pairs of a path such as `"layers/0/w"` and the leaf found there."""
    return [
        (separator.join(map(str, path)), leaf)
        for path, leaf in flatten_with_tuple_paths(structure, expand_composites)
    ]


def flatten_up_to(shallow_tree, input_tree, check_types=True, expand_composites=False):
    """The parts of `input_tree` at the leaves of `shallow_tree`, as a list.

    Example:
        >>> flatten_up_to([0, 0], [[1, 2], 3])
        [[1, 2], 3]
    """
    parts = []
    _collect_up_to(shallow_tree, input_tree, check_types, expand_composites, parts)
    return parts


def map_structure_up_to(shallow_tree, func, *inputs, check_types=True, expand_composites=False):
    """Calls `func` with the parts of `inputs` at each leaf of `shallow_tree`."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    columns = [flatten_up_to(shallow_tree, one, check_types, expand_composites) for one in inputs]
    results = [func(*parts) for parts in zip(*columns, strict=True)]
    return _pack(shallow_tree, iter(results), expand_composites)


# Walks


def _collect(structure, expand_composites, known_leaves, leaves):
    container = container_of(structure, expand_composites)
    if container is None:
        leaves.append(structure)
        return
    children = container.children(structure)
    if known_leaves.issuperset(map(type, children)):
        leaves += children
        return
    for child in children:
        _collect(child, expand_composites, known_leaves, leaves)


def _pack(structure, leaves, expand_composites):
    """Rebuilds `structure` with leaves taken from the iterator `leaves`."""
    container = container_of(structure, expand_composites)
    if container is None:
        return next(leaves)
    children = [_pack(child, leaves, expand_composites) for child in container.children(structure)]
    return container.rebuild(structure, children)


def _collect_with_paths(structure, expand_composites, path, found):
    container = container_of(structure, expand_composites)
    if container is None:
        found.append((path, structure))
        return
    for key, child in zip(container.keys(structure), container.children(structure), strict=True):
        _collect_with_paths(child, expand_composites, (*path, key), found)


def _collect_up_to(shallow, structure, check_types, expand_composites, parts):
    container = container_of(shallow, expand_composites)
    if container is None:
        parts.append(structure)
        return
    other = container_of(structure, expand_composites)
    if other is None:
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. Input has type: "
            f"{type(structure)}."
        )
    if check_types and not _same_kind(shallow, structure):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type "
            f"{type(structure)}, while shallow structure has type {type(shallow)}."
        )
    children, others = container.children(shallow), other.children(structure)
    if len(children) != len(others):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{len(others)}, while shallow structure has length {len(children)}."
        )
    if check_types and isinstance(shallow, abc.Mapping):
        missing = [key for key in shallow if key not in structure]
        if missing:
            raise ValueError(
                "The shallow_tree's keys are not a subset of the input_tree's keys. The "
                f"shallow_tree has the following keys that are not in the input_tree: {missing}."
            )
    for child, part in zip(children, others, strict=True):
        _collect_up_to(child, part, check_types, expand_composites, parts)


# Comparison


class _MismatchError(Exception):
    """Where two structures differ, and the class of the error to raise for it."""

    def __init__(self, error_class, text):
        super().__init__(text)
        self.error_class = error_class


def _compare(first, second, check_types, expand_composites):
    container1 = container_of(first, expand_composites)
    container2 = container_of(second, expand_composites)
    if container1 is None and container2 is None:
        return
    if container1 is None or container2 is None:
        nested, leaf = (second, first) if container1 is None else (first, second)
        raise _MismatchError(
            ValueError,
            f'Substructure "{_describe(nested)}" is a sequence, while substructure '
            f'"{_describe(leaf)}" is not',
        )
    if is_composite(first) and is_composite(second):
        _compare_composites(first, second)
        return
    if check_types:
        _compare_types(first, second)
    children1, children2 = container1.children(first), container2.children(second)
    for child1, child2 in zip(children1, children2, strict=False):
        _compare(child1, child2, check_types, expand_composites)
    if len(children1) != len(children2):
        raise _MismatchError(
            ValueError,
            "The two structures don't have the same number of elements. First structure: "
            f"{_describe(first)}. Second structure: {_describe(second)}",
        )


def _compare_types(first, second):
    if not _same_kind(first, second):
        raise _MismatchError(
            TypeError,
            "The two namedtuples don't have the same sequence type. First structure "
            f"{_describe(first)} has type {type(first).__name__}, while second structure "
            f"{_describe(second)} has type {type(second).__name__}",
        )
    if isinstance(first, abc.Mapping) and set(first) != set(second):
        raise _MismatchError(
            ValueError,
            "The two dictionaries don't have the same set of keys. First structure has keys "
            f"{_describe(list(first))}, while second structure has keys {_describe(list(second))}",
        )


def _same_kind(first, second):
    class1, class2 = type(first), type(second)
    if class1 is class2:
        return True
    if is_namedtuple_class(class1) and is_namedtuple_class(class2):
        return class1.__name__ == class2.__name__ and class1._fields == class2._fields
    return any(
        isinstance(first, family) and isinstance(second, family) for family in (list, abc.Mapping)
    )


def _compare_composites(first, second):
    """Composites agree if they have the same class and the same dtypes, whatever their sizes."""
    own = getattr(first, "_is_like", None)
    if own is not None and own(second):
        return
    specs = [f"{type(one).__name__}({', '.join(_component_texts(one))})" for one in (first, second)]
    if own is not None or type(first) is not type(second) or specs[0] != specs[1]:
        raise _MismatchError(
            ValueError, f"Incompatible CompositeTensor TypeSpecs: {specs[0]} vs. {specs[1]}"
        )


def _component_texts(composite):
    if hasattr(composite, "_leaf_texts"):
        return composite._leaf_texts()
    return [component.dtype.name for component in composite._components()]


def _describe(structure):
    # `!s` because formatting a tensor shows its bare value, without shape and dtype.
    return f"type={type(structure).__name__} str={structure!s}"


class _Dot:
    """Stands for a leaf where only the form of a structure is shown."""

    def __repr__(self):
        return "."


def _outline(structure):
    try:
        return str(map_structure(lambda _: _Dot(), structure))
    except TypeError:
        # A container that cannot be rebuilt must not hide the mismatch that is being reported.
        return str(structure)
