"""cond, case, switch_case, while_loop and what orders ops, run eagerly."""

import collections
import threading

import numpy as np
import pytest

import gradtape as tf


def counting_to(end):
    return lambda i, *rest: i < end


# Branches -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("pred", [True, np.bool_(True), tf.constant(True), tf.Variable(True), 3])
def test_cond_returns_what_the_branch_returns(pred):
    assert tf.cond(pred, lambda: (1, {"a": 2}), lambda: None) == (1, {"a": 2})


def test_cond_calls_one_branch_only():
    called = []
    tf.cond(tf.constant(False), lambda: called.append("true"), lambda: called.append("false"))
    assert called == ["false"]


@pytest.mark.parametrize(
    ("branches", "message"),
    [
        ((1, lambda: 2), "'true_fn' must be callable"),
        ((lambda: 1, 2), "'false_fn' must be callable"),
        ((lambda: 1,), "'false_fn' argument required"),
        ((), "'true_fn' argument required"),
    ],
)
def test_cond_needs_two_functions(branches, message):
    with pytest.raises(TypeError, match=message):
        tf.cond(True, *branches)


def test_gradients_pass_through_the_branch_taken():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.cond(x > 2.0, lambda: x * x, lambda: x)
    assert tape.gradient(y, x).numpy() == 6.0


def test_case_takes_the_first_that_holds():
    no, yes = tf.constant(False), tf.constant(True)
    assert tf.case([(no, lambda: 1), (yes, lambda: 2), (yes, lambda: 3)]) == 2
    assert tf.case([(no, lambda: 1)], default=lambda: 4) == 4
    ordered = collections.OrderedDict([(no.ref(), lambda: 1), (yes.ref(), lambda: 2)])
    assert tf.case(ordered) == 2
    assert tf.case({yes.ref(): lambda: 7}, exclusive=True) == 7


def test_an_exclusive_case_is_checked_at_every_call():
    def chosen(x, **default):
        pairs = [(x > 0, lambda: tf.constant(1)), (x < 5, lambda: tf.constant(2))]
        return tf.case(pairs, exclusive=True, **default)

    otherwise = {"default": lambda: tf.constant(3)}
    several = r"more than 1 conditions \(\?, \?\) evaluated as True:'\nTrue, True"
    with pytest.raises(tf.errors.InvalidArgumentError, match=several):
        chosen(tf.constant(1), **otherwise)
    assert chosen(tf.constant(1)) == 1  # without a default the last one stands for it
    compiled = tf.function(lambda x: chosen(x, **otherwise))
    assert compiled(tf.constant(7)) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match=several):
        compiled(tf.constant(1))


@pytest.mark.parametrize(
    ("pairs", "error", "message"),
    [
        ([(tf.constant(False), lambda: 1)], tf.errors.InvalidArgumentError, "None of conditions"),
        ([(True, lambda: 1)], TypeError, "pred must be a Tensor, got: True"),
        ([(tf.constant(1), lambda: 1)], TypeError, "type bool"),
        ([(tf.constant(True), 1)], TypeError, "must be callable"),
        ([tf.constant(True)], TypeError, "must be a 2-tuple"),
        (3, TypeError, "must be a list, tuple, or dict"),
        ([], ValueError, "at least one pair"),
        ({"a": lambda: 1}, ValueError, "Unordered dictionaries are not supported"),
    ],
)
def test_case_refuses(pairs, error, message):
    with pytest.raises(error, match=message):
        tf.case(pairs)


@pytest.mark.parametrize(("index", "expected"), [(0, "a"), (1, "b"), (2, "b"), (-1, "b")])
def test_switch_case_takes_the_last_for_an_index_outside(index, expected):
    assert tf.switch_case(tf.constant(index), [lambda: "a", lambda: "b"]) == expected


def test_switch_case_takes_pairs_dictionaries_and_a_default():
    one = tf.constant(1, tf.int64)
    assert tf.switch_case(one, {1: lambda: "b", 0: lambda: "a"}) == "b"
    assert tf.switch_case(one, [(1, lambda: "b"), (0, lambda: "a")]) == "b"
    assert tf.switch_case(tf.constant(9), [lambda: "a"], default=lambda: "z") == "z"


@pytest.mark.parametrize(
    ("index", "branches", "error", "message"),
    [
        (1, [lambda: 1], TypeError, "'branch_index' must be a Tensor, got <class 'int'>"),
        (tf.constant(1.0), [lambda: 1], TypeError, "integer Tensor, got <dtype: 'float32'>"),
        (tf.constant(1), [], ValueError, "at least one item"),
        (tf.constant(1), 3, TypeError, "must be a list, tuple, or dict"),
        (tf.constant(1), [1, 2], TypeError, "must be a 2-tuple. Received 1"),
        (tf.constant(1), [(0.5, lambda: 1)], TypeError, "key must be a Python `int`"),
        (tf.constant(1), {0: lambda: 1, 7: lambda: 2}, ValueError, r"but found {0,7}"),
        (tf.constant(1), [(0, lambda: 1), (0, lambda: 2)], ValueError, r"but found {0,0}"),
    ],
)
def test_switch_case_refuses(index, branches, error, message):
    with pytest.raises(error, match=message):
        tf.switch_case(index, branches)


# while_loop ---------------------------------------------------------------------------------------


def test_while_loop_returns_tensors_in_the_form_of_the_body():
    i, x = tf.while_loop(counting_to(5), lambda i, x: (i + 1, x * 2), [0, tf.constant(1.0)])
    assert (i.dtype, int(i), float(x)) == (tf.int32, 5, 32.0)
    assert type(tf.while_loop(counting_to(2), lambda i: [i + 1], (0,))) is list
    assert type(tf.while_loop(counting_to(2), lambda i: (i + 1,), [0])) is tuple


def test_while_loop_carries_structures():
    i, state = tf.while_loop(
        counting_to(3),
        lambda i, state: (i + 1, {"a": state["a"] + 1.0}),
        [tf.constant(0), {"a": tf.constant(0.0)}],
    )
    assert int(i) == 3
    assert float(state["a"]) == 3.0


def test_while_loop_lets_shapes_grow():
    (x,) = tf.while_loop(
        lambda x: tf.reduce_sum(x) < 5.0, lambda x: (tf.concat([x, x], 0),), [tf.ones(1)]
    )
    assert x.shape == [8]


@pytest.mark.parametrize(("limit", "expected"), [(3, 3), (tf.constant(2), 2), (0, 0), (9, 5)])
def test_while_loop_stops_after_the_maximum(limit, expected):
    (i,) = tf.while_loop(counting_to(5), lambda i: (i + 1,), [0], maximum_iterations=limit)
    assert int(i) == expected


def test_while_loop_with_a_tensor_array():
    _, array = tf.while_loop(
        counting_to(3),
        lambda i, array: (i + 1, array.write(i, i * 2)),
        [0, tf.TensorArray(tf.int32, 3)],
    )
    assert array.stack().numpy().tolist() == [0, 2, 4]


def test_gradients_pass_through_while_loop():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.while_loop(counting_to(3), lambda i, y: (i + 1, y * x), [0, x])[1]
    assert tape.gradient(y, x).numpy() == 32.0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((3, lambda i: (i,), [1]), TypeError, "'cond' must be callable"),
        ((lambda i: True, 3, [1]), TypeError, "'body' must be callable"),
        ((lambda i: True, lambda i: (i,), []), ValueError, "'loop_vars' must be provided"),
        ((lambda i: True, lambda i: (i,), None), ValueError, "'loop_vars' must be provided"),
        ((lambda i: True, lambda i: i, [tf.constant(1)]), TypeError, "must return a list or tuple"),
        ((lambda i: True, lambda i: (i, i), [1]), ValueError, "same nested structure"),
    ],
)
def test_while_loop_refuses(arguments, error, message):
    with pytest.raises(error, match=message):
        tf.while_loop(*arguments)


def test_while_loop_refuses_no_parallel_iterations():
    with pytest.raises(TypeError, match="'parallel_iterations' must be a positive integer"):
        tf.while_loop(counting_to(1), lambda i: (i + 1,), [0], parallel_iterations=0)


# Order of ops -------------------------------------------------------------------------------------


def test_order_is_that_of_the_calls():
    assert tf.group(tf.constant(1), None) is None
    assert tf.no_op() is None
    tensors = (1, tf.constant(2), None)
    assert tf.tuple(tensors, control_inputs=[tf.constant(3)]) is tensors
    called = []
    with tf.control_dependencies([tf.constant(1), lambda: called.append(1)]):
        called.append(2)
    assert called == [1, 2]


def test_critical_section_lets_in_one_thread_at_a_time():
    section = tf.CriticalSection()
    inside, most = [0], [0]

    def enter():
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        threading.Event().wait(0.002)
        inside[0] -= 1
        return [1, 2.0]

    threads = [threading.Thread(target=section.execute, args=(enter,)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]
    assert [x.dtype for x in section.execute(enter)] == [tf.int32, tf.float32]


def test_critical_section_inside_itself():
    section = tf.CriticalSection()
    with pytest.raises(ValueError, match="inside of itself"):
        section.execute(lambda: section.execute(lambda: 1))
    assert int(section.execute(lambda: 1)) == 1


def test_assert():
    assert tf.Assert(True, ["unseen"]) is None
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match=r"Expected 'tf.Tensor\(False.* Summarized data: 1, 2, 3, ...\nb'abc'\n3.0$",
    ):
        tf.debugging.Assert(tf.constant(False), [tf.range(1, 6), "abc", 3.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Summarized data: 0, 1, 2, 3, 4$"):
        tf.Assert(False, [tf.range(5)], summarize=-1)
    with pytest.raises(ValueError, match="more than one element"):
        tf.Assert(tf.constant([True, False]), [])
