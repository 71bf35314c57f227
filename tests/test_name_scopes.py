"""tf.name_scope: prefixes of variable names, nested, re-entered and per thread."""

import threading

import pytest

import gradtape as tf


def variable_name():
    return tf.Variable(1.0, name="v").name


def test_no_scope():
    assert variable_name() == "v:0"


def test_gives_the_prefix():
    with tf.name_scope("a") as prefix:
        assert prefix == "a/"
        assert variable_name() == "a/v:0"
        assert tf.Variable(1.0).name == "a/Variable:0"
    assert variable_name() == "v:0"


def test_nesting():
    with tf.name_scope("a"):
        with tf.name_scope("b") as prefix:
            assert prefix == "a/b/"
            assert variable_name() == "a/b/v:0"
        with tf.name_scope("c/d") as prefix:
            assert prefix == "a/c/d/"
        assert variable_name() == "a/v:0"


def test_same_name_twice_gives_the_same_prefix():
    prefixes = []
    for _ in range(2):
        with tf.name_scope("a") as prefix:
            prefixes.append(prefix)
    assert prefixes == ["a/", "a/"]


def test_trailing_slash_re_enters_from_anywhere():
    with tf.name_scope("outer"), tf.name_scope("inner") as inner:
        pass
    with tf.name_scope("elsewhere"):
        with tf.name_scope(inner) as prefix:
            assert prefix == "outer/inner/"
            assert variable_name() == "outer/inner/v:0"
        assert variable_name() == "elsewhere/v:0"


def test_empty_name_leaves_all_scopes():
    with tf.name_scope("a"):
        with tf.name_scope("") as prefix:
            assert prefix == ""
            assert variable_name() == "v:0"
        assert variable_name() == "a/v:0"


def test_one_object_used_again_and_inside_itself():
    scope = tf.name_scope("a")
    with scope as outer, scope as inner:
        assert (outer, inner) == ("a/", "a/a/")
    with tf.name_scope("b"), scope as prefix:
        assert prefix == "b/a/"
    assert variable_name() == "v:0"


def test_exception_restores_and_propagates():
    with tf.name_scope("a"):
        with pytest.raises(KeyError), tf.name_scope("b"):
            raise KeyError("k")
        assert variable_name() == "a/v:0"


def test_threads_start_without_a_scope():
    names = []
    entered, leave = threading.Event(), threading.Event()

    def in_thread():
        names.append(variable_name())
        with tf.name_scope("thread"):
            entered.set()
            leave.wait(10)

    with tf.name_scope("main"):
        thread = threading.Thread(target=in_thread)
        thread.start()
        assert entered.wait(10)
        names.append(variable_name())
        leave.set()
        thread.join()
    assert names == ["v:0", "main/v:0"]


@pytest.mark.beyond_tensorflow
def test_one_object_shared_by_threads():
    scope = tf.name_scope("shared")
    after = []
    entered, leave = threading.Event(), threading.Event()

    def in_thread():
        with tf.name_scope("thread"):
            with scope:
                entered.set()
                leave.wait(10)
            after.append(variable_name())

    thread = threading.Thread(target=in_thread)
    with tf.name_scope("main"):
        thread.start()
        assert entered.wait(10)
        with scope as prefix:
            assert prefix == "main/shared/"
            leave.set()
            thread.join()
            after.append(variable_name())
        after.append(variable_name())
    assert after == ["thread/v:0", "main/shared/v:0", "main/v:0"]


def test_name_is_read_only():
    scope = tf.name_scope(name="a")
    assert scope.name == "a"
    with pytest.raises(AttributeError, match=r"property 'name' of '.*' object has no setter"):
        scope.name = "b"  # type: ignore[misc]


@pytest.mark.parametrize("name", [None, 3, b"a", ["a"]])
def test_name_must_be_a_string(name):
    with pytest.raises(ValueError, match=r"^name for name_scope must be a string"):
        tf.name_scope(name)


def test_name_is_required():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'name'"):
        tf.name_scope()  # type: ignore[call-arg]


@pytest.mark.parametrize("name", ["1a", "_a", "bad name", "a$", "é"])
def test_any_string_will_do(name):
    with tf.name_scope(name):
        assert variable_name() == f"{name}/v:0"
