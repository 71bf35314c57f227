"""Random programs give the same, bit for bit, with and without `tf.function`, call after call.

A program is a list of statements on a list of values, which starts with the argument: ops, reads
and writes of variables, branches and loops on what tensors hold, tapes, and calls of functions.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import gradtape as tf
from gradtape.graph import interpret, plan

SIDE = 3
CALLS = 5

# Every value is a vector of one size; results stay within a few units.
UNARY = {
    "tanh": tf.tanh,
    "sin": tf.sin,
    "exp": lambda x: tf.exp(tf.sin(x)),
    "root": lambda x: tf.sqrt(tf.square(x) + 1.0),
    "relu": tf.nn.relu,
    "softmax": tf.nn.softmax,
    "mean": lambda x: x - tf.reduce_mean(x),
    "scale": lambda x: x / (1.0 + tf.reduce_max(tf.abs(x))),
    "reverse": lambda x: tf.reverse(x, [0]),
    "running": lambda x: tf.cumsum(x) * 0.3,
    "twice": lambda x: tf.concat([x, x], 0)[1 : SIDE + 1],
    "pick": lambda x: tf.gather(x, [2, 0, 0]),
    "turn": lambda x: tf.linalg.matvec(tf.reshape(tf.tile(tf.sin(x), [SIDE]), [SIDE, SIDE]), x),
    "keep": tf.identity,
    "stop": tf.stop_gradient,
    "positive": lambda x: x - tf.reduce_mean(tf.concat([x[x > 0.0], x[:1]], 0)),
}
BINARY = {
    "add": lambda x, y: (x + y) * 0.5,
    "sub": lambda x, y: x - y * 0.5,
    "mul": lambda x, y: tf.tanh(x) * y,
    "div": lambda x, y: x / (1.5 + tf.sin(y)),
    "larger": tf.maximum,
    "choose": lambda x, y: tf.where(x > y, x, y * 0.5),
}


@pytest.fixture(autouse=True, scope="module")
def _plans_are_put_to_the_test():
    """Plans are as for large arrays, and what goes wrong in them is not made up for."""

    def fail(*arguments):
        raise AssertionError("A graph could not be run by its plan.")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "_WORTH_FREEING", 1)
        patch.setattr(interpret, "run_stepwise", fail)
        yield


class Machine:
    """Variables, and the functions of a program, each wrapped once.

    Args:
        programs: blocks of statements; the first is the one that is called.
        wrap: what becomes of each function.
    """

    def __init__(self, programs, wrap):
        starts = np.array([[-1.0, 0.0, 1.0], [0.3, 0.2, -0.4]])
        self.variables = [tf.Variable(start) for start in starts]
        self.functions = [wrap(self._function(block)) for block in programs]

    def _function(self, block):
        def function(x):
            return self.run(block, [x])[-1]

        return function

    def __call__(self, x):
        return self.functions[0](x)

    def run(self, block, values):
        """The values, those of the block's statements added."""
        values = list(values)
        for statement in block:
            values.append(statement.run(self, values))
        return values

    def states(self):
        return [variable.numpy().tobytes() for variable in self.variables]


def at(values, position):
    return values[position % len(values)]


@dataclass(frozen=True)
class Apply:
    name: str
    first: int
    second: int

    def run(self, machine, values):
        if self.name in UNARY:
            return UNARY[self.name](at(values, self.first))
        return BINARY[self.name](at(values, self.first), at(values, self.second))


@dataclass(frozen=True)
class Read:
    variable: int

    def run(self, machine, values):
        return machine.variables[self.variable].read_value()


@dataclass(frozen=True)
class Write:
    variable: int
    how: str
    source: int

    def run(self, machine, values):
        variable = machine.variables[self.variable]
        getattr(variable, self.how)(tf.tanh(at(values, self.source)))
        return variable + 0.0


@dataclass(frozen=True)
class Branch:
    source: int
    yes: tuple
    no: tuple

    def run(self, machine, values):
        if tf.reduce_sum(at(values, self.source)) > 0.0:
            return machine.run(self.yes, values)[-1]
        return machine.run(self.no, values)[-1]


@dataclass(frozen=True)
class Loop:
    source: int
    block: tuple

    def run(self, machine, values):
        x, turns = at(values, self.source), 0
        while tf.reduce_sum(tf.abs(x)) < 2.0:
            x = machine.run(self.block, [*values, x])[-1] + 0.4
            turns += 1
            if turns == 3:
                break
        return x


@dataclass(frozen=True)
class ByElement:
    source: int

    def run(self, machine, values):
        total = tf.zeros([], tf.float64)
        for each in at(values, self.source):
            if each < 0.0:
                continue
            total = total * 0.5 + each
        return tf.fill([SIDE], total)


@dataclass(frozen=True)
class Tape:
    source: int
    block: tuple
    persistent: bool

    def run(self, machine, values):
        x = at(values, self.source)
        with tf.GradientTape(persistent=self.persistent) as tape:
            tape.watch(x)
            y = machine.run(self.block, [*values, x])[-1]
        sources = [x, *machine.variables]
        found = tape.gradient(y, sources, unconnected_gradients="zero")
        return tf.tanh(found[0] + 0.5 * found[1] - found[2])


@dataclass(frozen=True)
class Call:
    source: int

    def run(self, machine, values):
        return machine.functions[1](at(values, self.source))


places = st.integers(0, 6)


def statements(depth, calls):
    """Statements, those with blocks down to a depth; `calls` if they may call a function."""
    plain = [
        st.builds(Apply, st.sampled_from([*UNARY, *BINARY]), places, places),
        st.builds(Read, st.integers(0, 1)),
        st.builds(
            Write,
            st.integers(0, 1),
            st.sampled_from(["assign", "assign_add", "assign_sub"]),
            places,
        ),
        st.builds(ByElement, places),
    ]
    if calls:
        plain.append(st.builds(Call, places))
    if depth:
        inner = blocks(depth - 1, calls)
        plain += [
            st.builds(Branch, places, inner, inner),
            st.builds(Loop, places, inner),
            st.builds(Tape, places, inner, st.booleans()),
        ]
    return st.one_of(plain)


def blocks(depth, calls):
    return st.lists(statements(depth, calls), min_size=1, max_size=5 - depth).map(tuple)


programs = st.tuples(blocks(2, True), blocks(1, False))
bounded = settings(max_examples=60, deadline=None, derandomize=True, database=None)


def arguments():
    rng = np.random.default_rng(0)
    return [tf.constant(rng.uniform(-1.2, 1.2, SIDE)) for _ in range(CALLS)]


def bits(tensors):
    return [None if x is None else (x.dtype, x.numpy().tobytes()) for x in tensors]


def check(program, observe):
    """What `observe(machine, x)` gives, and the variables after it, are the same call by call."""
    eager, traced = Machine(program, lambda f: f), Machine(program, tf.function)
    for x in arguments():
        for _ in range(2):
            assert bits(observe(traced, x)) == bits(observe(eager, x))
            assert traced.states() == eager.states()


@bounded
@given(programs)
def test_values_and_variables(program):
    check(program, lambda machine, x: [machine(x)])


@bounded
@given(programs)
def test_gradients_by_a_tape_around_the_call(program):
    def observe(machine, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = machine(x)
        return [y, *tape.gradient(y, [x, *machine.variables], unconnected_gradients="zero")]

    check(program, observe)


@bounded
@given(programs)
def test_gradients_of_gradients_around_the_call(program):
    def observe(machine, x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = machine(x)
            first = inner.gradient(y, x, unconnected_gradients="zero")
        second = outer.gradient(first, x, unconnected_gradients="zero")
        return [y, first, second]

    check(program, observe)


@bounded
@given(programs)
def test_tangents_through_the_call(program):
    direction = tf.constant(np.array([1.0, -0.5, 0.25]))

    def observe(machine, x):
        with tf.autodiff.ForwardAccumulator(x, direction) as accumulator:
            y = machine(x)
        return [y, accumulator.jvp(y, unconnected_gradients="zero")]

    check(program, observe)
