"""Loops as one op: the body of each turn is a graph, and the number of turns may vary."""

from typing import Any

import numpy as np

from ..core import dtypes
from ..ops.arguments import integer
from ..ops.joining import stack, unstack
from .interpret import Program, as_value
from .passes import optimize
from .structured import Derivable, GradientForm, NotStructuredError, replayed, trace_body, value_now
from .structured_derivative import BodyDerivative
from .structured_rows import written_in_place
from .symbolic import SymbolicTensor


class Loop(Derivable):
    """A loop that carries values from turn to turn.

    The inputs of the op are, in this order: the values it carries; arrays of which each turn gets
    one part along the first axis; what the body captures; what the condition captures; the greatest
    number of turns, if there is one. The results are the last values carried, then what the turns
    give besides, stacked.

    Args:
        type: the op type.
        body: the Body, from carried values, parts and captures to carried values and what to stack.
        carried: how many values are carried.
        parts: how many arrays are taken apart.
        captured: how many values the body captures.
        condition: the Body of the condition, on the carried values; None if the parts say how many
            turns there are.
        has_limit: whether the last input is the greatest number of turns.
        length: how many parts there are, if there are arrays to take apart.
        reverse: whether the last part comes first.
    """

    def __init__(
        self,
        type,
        body,
        *,
        carried,
        captured,
        parts=0,
        condition: Any = None,
        has_limit=False,
        length=0,
        reverse=False,
    ):
        super().__init__()
        self.type = type
        self.bodies = [body] if condition is None else [condition, body]
        self.body = body
        self.carried = carried
        self.parts = parts
        self.first_captured = carried + parts
        self.last_captured = carried + parts + captured
        self.condition: Any = condition
        self.has_limit = has_limit
        self.length = length
        self.reverse = reverse
        self._program: Any = None
        self._changed = set()
        self.specs = [
            (shape, dtype) if i < carried else ((length, *shape), dtype)
            for i, (shape, dtype) in enumerate(body.specs)
        ]

    def order(self):
        """The positions of the parts, as the turns get them."""
        return range(self.length)[:: -1 if self.reverse else 1]

    def goes_on(self, state, values, done):
        """Whether a turn follows, on arrays."""
        condition = self.condition
        if self.has_limit and done >= values[-1]:
            return False
        captured = values[self.last_captured : len(values) - self.has_limit]
        return condition.program.run([*state, *captured])[0]

    def turns(self, values, program, changed):
        """Runs a program for each turn; gives its results, turn by turn.

        Args:
            values: the inputs of the op.
            program: from the inputs of the body to its results, and more.
            changed: positions of carried values whose memory the program changes.
        """
        state = [x.copy() if i in changed else x for i, x in enumerate(values[: self.carried])]
        arrays = values[self.carried : self.first_captured]
        captured = values[self.first_captured : self.last_captured]
        carried = self.carried
        run = program.run
        if self.condition is None:
            for i in self.order():
                found = run([*state, *[as_value(array[i]) for array in arrays], *captured])
                state = found[:carried]
                yield found
            return
        done = 0
        while self.goes_on(state, values, done):
            found = run([*state, *captured])
            state = found[:carried]
            yield found
            done += 1

    def run(self, values):
        if self._program is None:
            pairs = [(i, i) for i in range(self.carried)]
            graph, self._changed = written_in_place(optimize(self.body.graph), pairs)
            self._program = Program(graph)
        turns = self.turns(values, self._program, self._changed)
        carried = self.carried
        state = values[:carried]
        stacks = [np.empty(shape, dtype) for shape, dtype in self.specs[carried:]]
        if not stacks:
            for found in turns:
                state = found
            return state
        for i, found in zip(self.order(), turns, strict=True):
            state = found[:carried]
            for array, row in zip(stacks, found[carried:], strict=True):
                array[i] = _element(row)
        return [*state, *stacks]

    def replay(self, tensors):
        carried = self.carried
        state = list(tensors[:carried])
        captured = tensors[self.first_captured : self.last_captured]
        rows: list = [[] for _ in self.specs[carried:]]
        if self.condition is None:
            arrays = [unstack(x) for x in tensors[carried : self.first_captured]]
            for i in self.order():
                given = [*state, *[parts[i] for parts in arrays], *captured]
                found = replayed(self.body, given)
                state = found[:carried]
                for column, row in zip(rows, found[carried:], strict=True):
                    column.append(row)
            rows = [column[::-1] if self.reverse else column for column in rows]
            return [*state, *[stack(column) for column in rows]]
        limit = integer(tensors[-1], self.type) if self.has_limit else None
        of_condition = tensors[self.last_captured : len(tensors) - self.has_limit]
        done = 0
        while limit is None or done < limit:
            (truth,) = replayed(self.condition, [*state, *of_condition])
            if not truth:
                break
            state = replayed(self.body, [*state, *captured])
            done += 1
        return state

    def derived(self, arrays, wanted):
        return _LoopGradient(self, arrays, wanted)


class _LoopGradient(GradientForm):
    """The gradient of a loop: the turns once more, keeping what is needed, then backwards."""

    def __init__(self, form, arrays, wanted):
        super().__init__(form, arrays)
        carried, first, last = form.carried, form.first_captured, form.last_captured
        given = list(arrays[:last])
        for i in range(carried, first):
            given[i] = as_value(arrays[i][0])
        differentiable = [i for i in range(last) if arrays[i].dtype in dtypes.DIFFERENTIABLE]
        # Gradients of what is carried lead to all others, whether or not they are asked for.
        asked = [i for i in differentiable if i < carried or wanted[i]]
        summed = [i for i in asked if i >= first]
        self._derivative = BodyDerivative(
            form.body, given, asked, summed, self.nan_safe, carried=carried
        )
        self.followed = self._derivative.followed
        found = sorted([*self._derivative.reached, *self._derivative.scattered])
        self._carried = [i for i in self.followed if i < carried]
        self._parts = [i for i in found if carried <= i < first]
        # Without a turn, what is carried comes out as it went in.
        self.reached = [i for i in self._carried if wanted[i]]
        self.reached += [i for i in found if i >= carried]
        self.specs = [(arrays[i].shape, arrays[i].dtype) for i in self.reached]
        self._zeros = {i: np.zeros(arrays[i].shape, arrays[i].dtype)[()] for i in self._carried}

    def run(self, values):
        form, derivative = self.form, self._derivative
        inputs, grads = values[: self.count], values[self.count :]
        changed, changed_grads = derivative.changes
        turns = form.turns(inputs, derivative.forward, changed)
        kept = [found[derivative.count :] for found in turns]
        of_carried = dict(zip(self._carried, grads, strict=False))
        of_carried |= {i: of_carried[i].copy() for i in changed_grads}
        stacked = grads[len(self._carried) :]
        # Minus zero is what leaves every number as it is when added to it, plus zero included.
        sums = {i: _filled(inputs[i], -0.0 if kept else 0.0) for i in derivative.summed}
        scattered = {i: np.zeros(inputs[i].shape, inputs[i].dtype) for i in derivative.scattered}
        parts = {i: np.zeros(inputs[i].shape, inputs[i].dtype) for i in self._parts}
        order = [None] * len(kept) if form.condition is not None else form.order()
        for i in reversed(order):
            residuals = kept.pop()
            given = [as_value(g[i]) for g in stacked]
            found = derivative.backward.run(
                [*residuals, *of_carried.values(), *given, *sums.values()]
            )
            by_place = dict(zip(derivative.reached, found, strict=False))
            rows_found = iter(found[len(derivative.reached) :])
            for total in scattered.values():
                _add_rows(total, next(rows_found), next(rows_found))
            of_carried = {k: by_place.get(k, self._zeros[k]) for k in of_carried}
            sums = {k: by_place[k] for k in sums}
            for k, array in parts.items():
                array[i] = by_place[k]
        results = {**of_carried, **parts, **sums, **scattered}
        return [results[i] for i in self.reached]


def _add_rows(total, rows, indices):
    """Adds rows to those of an array, in order."""
    if indices.size == 1:
        total[int(indices.reshape(()))] += rows.reshape(total.shape[1:])
    else:
        np.add.at(total, indices, rows)


def _filled(like, number):
    return np.full(like.shape, number, like.dtype)[()]


def _element(row):
    """A result as it is put into an array: a string by itself, not in an array of rank 0."""
    return row[()] if row.dtype == object and not row.shape else row


# Adding loops to the active trace -----------------------------------------------------------------


def loop_while(condition, body, tensors, limit=None):
    """Replaces tensors by what `body` makes of them, as long as `condition` holds, as one op.

    Args:
        condition: from the tensors to a tensor, the truth value.
        body: from the tensors to a list of their next values.
        tensors: where to start.
        limit: the greatest number of turns, as a tensor, or None.

    Raises:
        NotStructuredError: they do more than compute, or shapes or dtypes change.
    """
    arrays = [value_now(x) for x in tensors]
    tested, of_condition = trace_body("while_cond", lambda *state: [condition(*state)], arrays)
    turn, of_body = trace_body("while_body", body, arrays)
    if turn.specs != [(x.shape, x.dtype) for x in arrays] or tested.specs[0][0] != ():
        raise NotStructuredError
    inputs = [*tensors, *of_body, *of_condition, *([] if limit is None else [limit])]
    _check_traced(inputs)
    form = Loop(
        "StatelessWhile", turn, carried=len(tensors), captured=len(of_body), condition=tested,
        has_limit=limit is not None,
    )  # fmt: skip
    return list(form.apply(inputs))


def loop_over(body, start, arrays, *, reverse=False):
    """Calls `body` with what is carried and each part that arrays have along their first axis.

    Args:
        body: from carried tensors and parts to a list: the next carried ones, and what to stack.
        start: the first tensors to carry.
        arrays: tensors with first axes of one length.
        reverse: whether to go from the last part to the first.

    Returns:
        The last carried tensors, then the stacked ones.

    Raises:
        NotStructuredError: `body` does more than compute, shapes or dtypes change, or there are no
            parts.
    """
    length = arrays[0]._value.shape[0]
    if not length:
        raise NotStructuredError
    begin = [value_now(x) for x in start]
    parts = [as_value(value_now(x)[0]) for x in arrays]
    turn, captured = trace_body("scan_body", body, [*begin, *parts])
    if turn.specs[: len(start)] != [(x.shape, x.dtype) for x in begin]:
        raise NotStructuredError
    inputs = [*start, *arrays, *captured]
    _check_traced(inputs)
    form = Loop(
        "Scan", turn, carried=len(start), captured=len(captured), parts=len(arrays),
        length=length, reverse=reverse,
    )  # fmt: skip
    return list(form.apply(inputs))


def _check_traced(inputs):
    """What no traced value leads to is a constant, and is computed as such."""
    if not any([type(x) is SymbolicTensor for x in inputs]):
        raise NotStructuredError
