"""Functions that users give to datasets: what they return, and how they are called quickly."""

import threading
from typing import Any

from ..core.active import thread
from ..core.errors import InternalError, OpError
from ..core.ragged_spec import RaggedTensorSpec
from ..core.spec import TensorSpec
from ..core.tensor import Tensor
from ..graph.examples import Rehearsal, RehearsalError
from ..graph.specialisations import TraceLock
from .elements import NoneTensorSpec, as_leaf, as_public, leaf_specs, with_leaf_specs
from .function_calls import (
    NOTHING,
    FlatCall,
    is_traceable,
    is_traceable_spec,
    key_of,
    outline_of,
    rebuilt,
    tensors_of,
)
from .function_examples import EXAMPLES, example_leaf, is_closed, resized, scaled
from .function_paths import ElementPaths, as_in_an_iterator, random_numbers_kept
from .function_shapes import (
    certain_shapes,
    component_specs,
    widened,
    with_certain_shapes,
    with_open_sizes,
)

# A graph is traced for each combination of shapes; where there are more, Python is quicker.
_MOST_SHAPES = 64
# Functions made while another one runs may be called just a few times: too few to trace them.
_CALLS_BEFORE_TRACE = 8


class _State(threading.local):
    """Whether functions are being made, so that specs must not cost anything, and how deep."""

    is_making = False
    depth = 0


_state = _State()


class _Debugging:
    """Whether functions always run as Python, so that debuggers see them."""

    is_on = False


debugging = _Debugging()


class SpecNotKnownYet(BaseException):
    """A spec takes an element to tell, and somebody asked for it who would rather not wait."""


def known_spec(dataset):
    """A dataset's element_spec, or None if it takes an element to tell.

    To ask for it as a dataset is made has errors in it show early.
    """
    making, _state.is_making = _state.is_making, True
    try:
        return dataset.element_spec
    except SpecNotKnownYet:
        return None
    finally:
        _state.is_making = making


class ElementFunction:
    """A user's function from elements to an element, called with leaves and giving leaves.

    At once it is traced on examples, as TensorFlow does, so that errors in it show early. What
    it needs real values for waits for the first element.

    Args:
        function: is called with the parts of an element that is a tuple, or with an element.
        takes: functions that give the specs of the elements it is called with; usually one.
        first: gives the leaves of the first call, to learn from it what the function returns
            where examples do not tell.
        traced: whether it runs as a graph. Functions that make datasets do not.
        what: what it is passed to, for messages.
        end_error: the class of the error that an end of something it goes through becomes.

    Raises:
        ValueError: it is no function.
        Exception: that of the function, if it fails whatever the elements are.
    """

    def __init__(self, function, *takes, first, traced=True, what, end_error=InternalError):
        if not callable(function):
            raise ValueError(
                f"Argument `func` must be a callable. Received func={function} "
                f"(of type {type(function)})"
            )
        self._takes = takes
        self._first = first
        self._end_error = end_error
        self._call = FlatCall(function, takes, what)
        self._is_traced = traced and not debugging.is_on
        self._lock = TraceLock()
        self._paths = {}
        self._seen = set()
        self._quick: Any = None
        self._is_closed: bool | None = None  # nobody asked
        self._spec: Any = None
        self._rehearsed: Any = None
        self._sample: Any = None  # leaves of a call, until the spec is known
        self._waits = _CALLS_BEFORE_TRACE if _state.depth else 0
        if not self._waits:
            self._rehearse_soon()

    def __call__(self, *leaves):
        quick = self._quick
        if quick is not None:
            try:
                found = quick(*leaves)
            except Exception:  # it is run once more, which tells where it fails
                found = None
            if type(found) is tuple:
                return found
        try:
            return self._run(leaves)
        except Exception as error:
            raise as_in_an_iterator(error, self._end_error) from None

    # Calling ------------------------------------------------------------------------------------

    def _run(self, leaves):
        if self._sample is None:
            self._sample = leaves
        if self._waits:
            self._waits -= 1
            return self._run_python(leaves)
        paths = self._paths_for(leaves) if self._is_traced else None
        if paths is None:
            return self._run_python(leaves)
        values = paths.call_alone(tensors_of(leaves))
        if self._input_is_closed() and all([isinstance(value, Tensor) for value in values]):
            self._quick = paths.quick()
        return tuple([as_leaf(value) for value in values])

    def _run_python(self, leaves):
        outside = thread.trace, thread.recorders, thread.effects
        thread.trace, thread.recorders, thread.effects = None, (), None
        making, _state.is_making = _state.is_making, False
        _state.depth += 1
        try:
            values = self._call([as_public(leaf) for leaf in leaves])
        finally:
            _state.depth -= 1
            _state.is_making = making
            thread.trace, thread.recorders, thread.effects = outside
        if self._spec is not None and not self._is_traced:
            self._call.result = NOTHING  # a dataset may hold much, and nobody asks what it was
        return tuple([as_leaf(value) for value in values])

    def _paths_for(self, leaves):
        """The paths for leaves of these shapes; None if Python is to be run."""
        key = tuple([key_of(leaf) for leaf in leaves])
        found = self._paths.get(key)
        if found is None:
            if not self._input_is_closed() and key not in self._seen:
                # Each element may have a shape of its own: what comes once is not worth a trace.
                if len(self._seen) < _MOST_SHAPES:
                    self._seen.add(key)
                return None
            if len(self._paths) >= _MOST_SHAPES or not all([is_traceable(x) for x in leaves]):
                return None
            found = self._paths[key] = self._new_paths(leaves)
        return found

    def _new_paths(self, leaves):
        outline = outline_of(leaves)
        count = len(tensors_of(leaves))

        def run(tensors):
            return self._call(rebuilt(outline, tensors))

        call = self._call
        return ElementPaths(call.__name__, run, count, self._lock, call.describe)

    # What it returns ----------------------------------------------------------------------------

    @property
    def spec(self):
        """The structure of what it returns, with specs in the place of tensors.

        Raises:
            ValueError: that takes an element to tell, and there is none.
        """
        if self._spec is None:
            if self._rehearsed is None:
                self._rehearse()
            self._spec = self._spec_of_examples() or self._spec_of_elements()
            self._sample = ()
        return self._spec

    @property
    def is_known(self):
        """Whether `spec` can be told without an element."""
        return self._spec is not None or bool(self._rehearsed)

    @property
    def gives_nothing(self):
        """Whether it is known to return nothing but None."""
        return bool(self._rehearsed) and all(
            [isinstance(leaf, NoneTensorSpec) for leaf in leaf_specs(self._rehearsed[0])]
        )

    def _spec_of_examples(self):
        """The spec, if it follows from what the function did with examples."""
        if not self._rehearsed:
            return None
        if not self._is_traced:
            inputs = self._input_specs()
            found = _merged([s for e in EXAMPLES for s in self._rehearsed_python(inputs, e)])
            # There are no examples of other lengths of datasets, nor of a ragged tensor's rows.
            if all([isinstance(spec, TensorSpec) for spec in inputs]):
                return found
            is_ragged = any([isinstance(spec, RaggedTensorSpec) for spec in inputs])
            return with_open_sizes(found, inside_datasets=is_ragged)
        found, size = [], 0
        for example in EXAMPLES:
            if not found:
                found, size = self._specs_for_sizes(example), example.size
        if self._input_is_closed():
            return _merged(found)
        return self._merged_with_other_sizes(
            found, lambda n: self._specs_for_sizes(EXAMPLES[0]._replace(size=n(size)))
        )

    def _merged_with_other_sizes(self, found, specs_for):
        """The spec by what is returned for some sizes, where others may change some of it.

        Sizes that follow from others, or may be those of nothing, are open. Some may not suit.
        """
        more = specs_for(lambda n: n + 1) or specs_for(lambda n: 2 * n)
        if not more:
            return with_open_sizes(_merged(found), self._takes_any_rank())
        return _merged(found + more + specs_for(lambda n: 0))

    def _specs_for_sizes(self, example):
        """What the function returns for inputs of some size, by all ways through it."""
        inputs = self._input_specs()
        with random_numbers_kept():
            paths = self._rehearsed_paths(inputs, example)
            tries = iter((*EXAMPLES, *EXAMPLES))
            while paths is not None and paths.count and paths.unseen():
                other = next(tries, None)
                if other is None:
                    break
                leaves = [example_leaf(resized(spec, example.size), other) for spec in inputs]
                paths.rehearse(tensors_of(leaves), False)
        return [] if paths is None else self._specs_of_paths(paths)

    def _specs_of_paths(self, paths):
        every = not paths.unseen()
        inputs = [part for spec in self._input_specs() for part in component_specs(spec)]
        found = []
        for path in paths.all_paths():
            spec, counts = paths.returned(path)
            shapes = certain_shapes(path.graph, inputs, every)
            found.append(with_certain_shapes(spec, counts, shapes))
        return found

    def _spec_of_elements(self):
        if _state.is_making:
            raise SpecNotKnownYet
        if self._call.result is NOTHING:
            try:
                leaves = self._first()
            except StopIteration:
                raise ValueError(
                    f"What the function passed to {self._call.what} returns shows when it is "
                    "called with an element, and there is none."
                ) from None
            self(*leaves)
        found = [p for p in self._paths.values() if p.count]
        if self._is_traced and self._input_is_closed() and found:
            return _merged([s for paths in found for s in self._specs_of_paths(paths)])
        return self._spec_of_sizes() or with_open_sizes(
            self._call.describe()[0], self._takes_any_rank()
        )

    def _spec_of_sizes(self):
        """The spec by examples of the sizes that an element had; None if these do not tell."""
        inputs = self._input_specs()
        if not self._is_traced or not all([isinstance(spec, TensorSpec) for spec in inputs]):
            return None

        def specs_for(change):
            sizes = [
                TensorSpec(scaled(spec.shape, leaf.shape, change), spec.dtype)
                for spec, leaf in zip(inputs, self._sample, strict=True)
            ]
            paths = self._rehearsed_paths(sizes, EXAMPLES[0])
            return [] if paths is None else self._specs_of_paths(paths)

        found = specs_for(lambda n: n)
        return self._merged_with_other_sizes(found, specs_for) if found else None

    # Rehearsals ---------------------------------------------------------------------------------

    def _rehearse_soon(self):
        """Rehearses it now, unless what it is called with is not known yet."""
        making, _state.is_making = _state.is_making, True
        try:
            self._rehearse()
        except SpecNotKnownYet:
            pass
        finally:
            _state.is_making = making

    def _rehearse(self):
        inputs = self._input_specs()
        if self._is_traced and all([is_traceable_spec(spec) for spec in inputs]):
            paths = None
            with random_numbers_kept():
                for example in EXAMPLES:
                    if paths is None and self._is_traced:
                        paths = self._rehearsed_paths(inputs, example)
            if self._is_traced:
                self._rehearsed = [] if paths is None else [paths.returned(paths.latest)[0]]
                return
        self._is_traced = False
        self._rehearsed = []
        for example in () if debugging.is_on else EXAMPLES:
            self._rehearsed = self._rehearsed or self._rehearsed_python(inputs, example)

    def _rehearsed_paths(self, inputs, example):
        """Paths with what the function does with an example; None if that does not work."""
        is_certain = self._input_is_closed()
        leaves = [example_leaf(resized(spec, example.size), example) for spec in inputs]
        key = tuple([key_of(leaf) for leaf in leaves])
        paths = self._paths.get(key)
        if paths is None:
            paths = self._paths[key] = self._new_paths(leaves)
        if not paths.count:
            paths.rehearse(tensors_of(leaves), is_certain)
            self._call.result = NOTHING
            # As a rule it uses a dataset, which it will always do.
            self._is_traced = paths.by_python is None
        return paths if paths.count else None

    def _rehearsed_python(self, inputs, example):
        """A list with the spec of what it returns for an example, empty if that does not work."""
        try:
            leaves = [example_leaf(resized(spec, example.size), example) for spec in inputs]
        except RehearsalError:
            return []
        outside = thread.trace, thread.recorders, thread.effects
        thread.trace, thread.recorders, thread.effects = None, (), Rehearsal()
        _state.depth += 1
        try:
            self._call([as_public(leaf) for leaf in leaves])
            return [self._call.describe()[0]]
        except (RehearsalError, SpecNotKnownYet, OpError, ArithmeticError, LookupError, ValueError):
            return []
        finally:
            self._call.result = NOTHING
            _state.depth -= 1
            thread.trace, thread.recorders, thread.effects = outside

    def _input_specs(self):
        return [leaf for take in self._takes for leaf in leaf_specs(take())]

    def _takes_any_rank(self):
        return any([isinstance(spec, TensorSpec) and spec.shape.rank is None
                    for spec in self._input_specs()])  # fmt: skip

    def _input_is_closed(self):
        """Whether all arguments have known shapes."""
        if self._is_closed is None:
            self._is_closed = all([is_closed(spec) for spec in self._input_specs()])
        return self._is_closed


def _merged(specs):
    """One structure of specs for what several describe."""
    first, *others = specs
    found = leaf_specs(first)
    for other in others:
        found = widened(found, leaf_specs(other))
    return with_leaf_specs(first, found)
