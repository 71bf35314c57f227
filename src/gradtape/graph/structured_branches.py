"""Branches as one op: each is a graph, and the predicate's value in a call says which one runs."""

from typing import Any

import numpy as np

from ..core import dtypes, nest
from .structured import Derivable, GradientForm, NotStructuredError, replayed, trace_body
from .structured_derivative import BodyDerivative


class Branches(Derivable):
    """Several bodies, of which one runs.

    The first input says which; the others are what the bodies capture.

    Args:
        type: the op type.
        choose: from the first input, an array or a tensor, to a position.
        branches: pairs of a Body and the positions of its inputs among the op's.
    """

    def __init__(self, type, choose, branches):
        super().__init__()
        self.type = type
        self.bodies = [body for body, _ in branches]
        self.specs = branches[0][0].specs
        self.choose = choose
        self.branches = branches

    def run(self, values):
        body, places = self.branches[self.choose(values[0])]
        return body.program.run([values[i] for i in places])

    def replay(self, tensors):
        body, places = self.branches[self.choose(tensors[0])]
        return replayed(body, [tensors[i] for i in places])

    def derived(self, arrays, wanted):
        return _BranchesGradient(self, arrays, wanted)


class _BranchesGradient(GradientForm):
    """The gradient of the branch which runs; zeros for what only others reach."""

    def __init__(self, form, arrays, wanted):
        super().__init__(form, arrays)
        asked = {i for i, x in enumerate(arrays) if wanted[i] and x.dtype in dtypes.DIFFERENTIABLE}
        self._derivatives = self._traced(arrays, asked, asked)
        # Gradients that are rows stay so if those of all branches are, and are as many.
        rows = {i for i in asked if self._have_same_rows(i)}
        if any([self._places(k, d.scattered) - rows for k, d in enumerate(self._derivatives)]):
            self._derivatives = self._traced(arrays, asked, rows)
        self.followed = self._derivatives[0].followed
        reached = [self._places(k, d.reached) for k, d in enumerate(self._derivatives)]
        self.reached = sorted(set().union(*reached))
        self.sparse = sorted(rows)
        self.specs = [(arrays[i].shape, arrays[i].dtype) for i in self.reached]
        self._dense_specs = self.specs
        for i in self.sparse:
            self.specs = [*self.specs, *self._rows_of(0, i)]

    def _traced(self, arrays, asked, rows):
        """The derivatives of all branches; those with respect to `rows` may be a few rows."""
        return [
            BodyDerivative(
                body, [arrays[i] for i in places], [k for k, i in enumerate(places) if i in asked],
                [], self.nan_safe, rows=[k for k, i in enumerate(places) if i in rows],
            )
            for body, places in self.form.branches
        ]  # fmt: skip

    def _places(self, branch, positions):
        """Positions among the op's inputs of some of a branch's."""
        places = self.form.branches[branch][1]
        return {places[k] for k in positions}

    def _rows_of(self, branch, place) -> Any:
        """The shapes and dtypes of a gradient that is rows; None if it is not."""
        places = self.form.branches[branch][1]
        if place not in places:
            return None
        return self._derivatives[branch].scattered.get(places.index(place))

    def _have_same_rows(self, place):
        specs = [self._rows_of(k, place) for k in range(len(self._derivatives))]
        return specs[0] is not None and all([each == specs[0] for each in specs])

    def run(self, values):
        inputs, grads = values[: self.count], values[self.count :]
        chosen = self.form.choose(inputs[0])
        derivative, places = self._derivatives[chosen], self.form.branches[chosen][1]
        found = derivative.forward.run([inputs[i] for i in places])
        found = derivative.backward.run([*found[derivative.count :], *grads])
        by_place = {places[k]: d for k, d in zip(derivative.reached, found, strict=False)}
        dense = [
            by_place[i] if i in by_place else np.zeros(shape, dtype)[()]
            for i, (shape, dtype) in zip(self.reached, self._dense_specs, strict=True)
        ]
        rest = iter(found[len(derivative.reached) :])
        rows = {places[k]: (next(rest), next(rest)) for k in derivative.scattered}
        return [*dense, *[x for i in self.sparse for x in rows[i]]]


def branch(type, index, choose, functions):
    """What the chosen one of several functions returns, as one op of the active trace.

    Args:
        type: the op type.
        index: a tensor of the trace, by which one is chosen.
        choose: see `Branches`.
        functions: functions without parameters.

    Raises:
        NotStructuredError: they do more than compute, or do not return tensors of the same
            structure, shapes and dtypes.
    """
    traced, results = [], []
    for i, function in enumerate(functions):

        def leaves_of(function=function):
            results.append(function())
            return nest.flatten(results[-1])

        traced.append(trace_body(f"branch_{i}", leaves_of, []))
    first = traced[0][0]
    if not first.specs or any([body.specs != first.specs for body, _ in traced]):
        raise NotStructuredError
    for result in results[1:]:
        _check_same_structure(results[0], result)
    captured = {x._id: x for _, tensors in traced for x in tensors}
    places = {key: i + 1 for i, key in enumerate(captured)}
    branches = [(body, [places[x._id] for x in tensors]) for body, tensors in traced]
    found = Branches(type, choose, branches).apply([index, *captured.values()])
    return nest.pack_sequence_as(results[0], list(found))


def _check_same_structure(first, other):
    try:
        nest.assert_same_structure(first, other)
    except (TypeError, ValueError):
        raise NotStructuredError from None


def by_truth(x):
    """The first of two branches where a truth value holds."""
    return 0 if x else 1


def by_number(count):
    """One of `count` branches by its number; the last for numbers outside."""

    def choose(x):
        number = int(x)
        return number if 0 <= number < count else count - 1

    return choose
