"""The derivative of a body: two programs, one of which keeps what the other needs.

They are cut out of one trace of the body's graph under a tape and of the tape's gradient, and a
structured op's gradient runs them: for the branch that was taken, or for every turn of a loop.
"""

from typing import Any

from ..autodiff.tape import GradientTape
from ..core import dtypes
from ..core.indexed_slices import IndexedSlices
from .derivative import ones_like, residuals_of
from .interpret import Program
from .ir import Graph
from .passes import optimize, without_dead_code
from .structured import BodyTrace, NotStructuredError, replayed
from .structured_rows import written_in_place


class BodyDerivative:
    """The gradient of a body.

    Attributes:
        forward: a Program that gives the results and then the residuals.
        backward: a Program from the residuals, a gradient for each differentiable result and a sum
            for each input that is `summed` to gradients: of those inputs that are `reached`, and
            then two for each that is `scattered`, values and indices.
        count: the number of results.
        followed: positions of the differentiable results.
        reached: positions of the inputs that gradients come for.
        summed: positions of those whose gradients are sums, one turn's added to a sum given.
        scattered: positions of those whose gradients are a few rows and where they belong, each
            with the shapes and dtypes of the two.
        changes: positions of inputs whose memory `forward` changes, and of results for which
            `backward` changes the memory of the gradient.
    """

    def __init__(self, body, arrays, wanted, summed, nan_safe, *, carried=0, rows=()):
        """Traces it.

        Args:
            body: the Body.
            arrays: values for its inputs.
            wanted: positions of the inputs whose gradients are asked for.
            summed: positions of those among them whose gradients are added to a sum that is given:
                one addition after the other, in the order in which a tape adds them.
            nan_safe: as of the tape.
            carried: how many results take the places of inputs in a next turn.
            rows: positions of further inputs whose gradients may be a few rows.

        Raises:
            NotStructuredError: the gradient depends on values in a way a graph cannot.
        """
        self.count = len(body.graph.outputs)
        outputs = body.graph.outputs
        self.followed = [i for i, v in enumerate(outputs) if v.dtype in dtypes.DIFFERENTIABLE]
        try:
            with BodyTrace(body.name, None) as trace:
                inputs = [trace.input(array, "arg") for array in arrays]
                cut, residual_users, results = self._trace(
                    trace, body, inputs, wanted, summed, nan_safe, rows
                )
        except Exception as error:
            raise NotStructuredError from error
        self._cut(trace.graph, inputs, cut, residual_users, results, carried)

    def _trace(self, trace, body, inputs, wanted, summed, nan_safe, rows):
        """Traces both parts.

        Returns:
            Where the second part starts, what it is given, and what it gives.
        """
        sources = [inputs[i] for i in wanted]
        tape = GradientTape(True, watch_accessed_variables=False, nan_safe=nan_safe)
        with tape:
            tape.watch(sources)
            outputs = replayed(body, inputs)
        trace.finish(outputs)
        cut = len(trace.graph.nodes)
        targets = [outputs[i] for i in self.followed]
        grads = [trace.input(ones_like(x), "grad") for x in targets]
        found = dict(
            zip(wanted, tape.gradient(targets, sources, output_gradients=grads), strict=True)
        )
        scattered = {
            i: found.pop(i) for i in (*summed, *rows) if isinstance(found[i], IndexedSlices)
        }
        self.scattered = {
            i: [(x._value.shape, x._value.dtype) for x in (d.values, d.indices)]
            for i, d in scattered.items()
        }
        self.summed = [i for i in summed if found.get(i) is not None]
        sums = [trace.input(ones_like(inputs[i]), "sum") for i in self.summed]
        if sums:
            # Once more, from the sums on: the first time told which of them there are.
            sources = [inputs[i] for i in found]
            again = tape.gradient(
                [*targets, *[inputs[i] for i in self.summed]],
                sources,
                output_gradients=[*grads, *sums],
            )
            found = dict(zip(found, again, strict=True))
        dense = {
            i: d._to_tensor(None) if isinstance(d, IndexedSlices) else d
            for i, d in found.items()
            if d is not None
        }
        self.reached = list(dense)
        parts = [x for d in scattered.values() for x in (d.values, d.indices)]
        return cut, [*grads, *sums], [trace.value_of(x) for x in (*dense.values(), *parts)]

    def _cut(self, whole, inputs, cut, given, results, carried):
        """Makes the two programs."""
        forward, backward = whole.nodes[:cut], whole.nodes[cut:]
        first, second = Graph(whole.name), Graph(f"{whole.name}_backward")
        second.nodes, second.outputs = backward, results
        second = without_dead_code(second)
        residuals = residuals_of(forward, inputs, second.nodes, results)
        first.inputs = [x._value._traced for x in inputs]
        first.nodes, first.outputs = forward, [*whole.outputs, *residuals]
        second.inputs = [*residuals, *[x._value._traced for x in given]]
        first, changed = written_in_place(optimize(first), [(i, i) for i in range(carried)])
        # Gradients of what is carried follow the residuals, and come out as those of the inputs.
        offset = len(residuals)
        pairs = {
            offset + k: (i, self.reached.index(i))
            for k, i in enumerate(self.followed)
            if i < carried and i in self.reached
        }
        second, of_grads = written_in_place(
            optimize(second), [(place, out) for place, (_, out) in pairs.items()]
        )
        self.changes = changed, {pairs[place][0] for place in of_grads}
        self.forward: Any = Program(first)
        self.backward: Any = Program(second)
