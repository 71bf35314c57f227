"""Module: an object that finds the variables and modules held in its attributes."""

import functools
import re

from .core import nest
from .core.name_scopes import name_scope
from .core.variable import Variable

_VALID_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# Between a lower-case letter or digit and a capital, and before a capital that starts a word.
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=.)(?=[A-Z][a-z])")


class Module:
    """Base class of layers and models: collects the variables of its attributes.

    Variables and modules are found in attributes directly and in lists, tuples and dictionaries
    there. A module's own variables come first, attribute by attribute in sorted order, then those
    of each module it holds, in the same way; each is listed once.

    Args:
        name: A valid identifier; by default the class's name in snake case.

    Raises:
        ValueError: `name` is not a valid identifier.

    Example:
        class Dense(tf.Module):
            def __init__(self, inputs, outputs, name=None):
                super().__init__(name)
                self.w = tf.Variable(tf.random.normal([inputs, outputs]), name="w")
                self.b = tf.Variable(tf.zeros([outputs]), name="b")

            def __call__(self, x):
                return tf.nn.relu(x @ self.w + self.b)

        Dense(3, 2).trainable_variables  # (b, w)
    """

    # Attributes that are not searched; subclasses add to it.
    _TF_MODULE_IGNORED_PROPERTIES: frozenset[str] = frozenset()

    def __init__(self, name=None):
        if name is None:
            name = _WORD_START.sub("_", type(self).__name__).lower()
        elif not isinstance(name, str):
            raise TypeError(f"A module name must be a string. Received: name={name!r}")
        elif not _VALID_NAME.fullmatch(name):
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python "
                "identifiers (e.g. a valid class name)."
            )
        self._name = name
        # The scope in which the module is made stays its prefix, wherever it is used later.
        with name_scope(name) as prefix:
            self._name_scope = name_scope(prefix)

    @property
    def name(self):
        """The name given at construction, without enclosing scopes."""
        return self._name

    @property
    def name_scope(self):
        """The name scope of this module, to be entered where its variables are made."""
        return self._name_scope

    @property
    def variables(self):
        """All variables of this module and the modules it holds, as a tuple."""
        return tuple(self._flatten(predicate=_is_variable))

    @property
    def trainable_variables(self):
        """The variables with `trainable=True`, as a tuple."""
        return tuple(self._flatten(predicate=_is_trainable_variable))

    @property
    def non_trainable_variables(self):
        """The variables with `trainable=False`, as a tuple."""
        return tuple(self._flatten(predicate=_is_non_trainable_variable))

    @property
    def submodules(self):
        """All modules held by this one, at any depth, as a tuple."""
        return tuple(self._flatten(predicate=_is_module))

    def _flatten(
        self,
        recursive=True,
        predicate=None,
        attribute_traversal_key=None,
        with_path=False,
        expand_composites=False,
    ):
        """The values in this module's attributes, as a generator.

        Args:
            recursive: Whether modules that are found are searched too.
            predicate: Which values to give; by default all.
            attribute_traversal_key: Sorts attribute names, as `key` does in `sorted`.
            with_path: Whether to give pairs of a path (a tuple of attribute names, keys and
                indices) and a value; a value then appears once for every path to it.
            expand_composites: Whether values made of several tensors are opened.
        """
        search = _values_with_paths if with_path else _distinct_values
        return search(self, recursive, predicate, attribute_traversal_key, expand_composites)

    @classmethod
    def with_name_scope(cls, method):
        """Decorates a method so that it runs inside the module's name scope."""

        @functools.wraps(method)
        def method_with_name_scope(self, *args, **kwargs):
            with self.name_scope:
                return method(self, *args, **kwargs)

        return method_with_name_scope


def _distinct_values(root, recursive, predicate, attribute_key, expand_composites):
    """Every value in the attributes of `root` and of the modules found there, once."""
    # Keyed by id and holding the values, so that no id is reused during the search.
    given = {id(root): root}
    entered = set()
    pending = [root]
    while pending:
        module = pending.pop()
        if id(module) in entered:
            continue
        entered.add(id(module))
        submodules = []
        for _, leaves in _attributes(module, nest.flatten, attribute_key, expand_composites):
            for value in leaves:
                if id(value) not in given and (predicate is None or predicate(value)):
                    given[id(value)] = value
                    yield value
                if recursive and isinstance(value, Module):
                    submodules.append(value)
        pending += reversed(submodules)


def _values_with_paths(root, recursive, predicate, attribute_key, expand_composites):
    """Pairs of a path from `root` and the value there; only cycles of modules are cut."""
    pending = [((), root, ())]
    while pending:
        path, module, outer_modules = pending.pop()
        if any(module is outer for outer in outer_modules):
            continue
        submodules = []
        for name, leaves in _attributes(
            module, nest.flatten_with_tuple_paths, attribute_key, expand_composites
        ):
            for inner_path, value in leaves:
                value_path = (*path, name, *inner_path)
                if predicate is None or predicate(value):
                    yield value_path, value
                if recursive and isinstance(value, Module):
                    submodules.append((value_path, value, (*outer_modules, module)))
        pending += reversed(submodules)


def _attributes(module, flatten, attribute_key, expand_composites):
    """Pairs of an attribute's name and what `flatten` makes of its value, in order of names."""
    attributes = vars(module)
    for name in sorted(attributes, key=attribute_key):
        if name in module._TF_MODULE_IGNORED_PROPERTIES:
            continue
        try:
            leaves = flatten(attributes[name], expand_composites=expand_composites)
        except TypeError as cause:
            raise ValueError(
                f"Error processing property {name!r} of {attributes[name]!r}"
            ) from cause
        yield name, leaves


def _is_module(value):
    return isinstance(value, Module)


def _is_variable(value):
    return isinstance(value, Variable)


def _is_trainable_variable(value):
    return isinstance(value, Variable) and value.trainable


def _is_non_trainable_variable(value):
    return isinstance(value, Variable) and not value.trainable
