"""tf.TensorShape: what it accepts and knows, how it compares, combines and prints."""

import copy
import pickle

import numpy as np
import pytest

import gradtape as tf

UNKNOWN = tf.TensorShape(None)


def sizes_of(shape):
    """The sizes as a list, or None for an unknown rank."""
    return None if shape.rank is None else shape.as_list()


class Index:
    def __index__(self):
        return 4


class TestConstruction:
    @pytest.mark.parametrize(
        ("dims", "expected"),
        [
            ([2, 3], [2, 3]),
            ((2, None), [2, None]),
            ([], []),
            (5, [5]),
            (np.int64(5), [5]),
            (np.array(3), [3]),
            (np.array([2, 3]), [2, 3]),
            ([np.int32(2), np.uint8(200)], [2, 200]),
            (range(3), [0, 1, 2]),
            (iter([1, 2]), [1, 2]),
            (Index(), [4]),
            ([Index(), None], [4, None]),
            (tf.TensorShape([2, 3]), [2, 3]),
        ],
    )
    def test_accepts(self, dims, expected):
        sizes = tf.TensorShape(dims).as_list()
        assert sizes == expected
        assert all(size is None or type(size) is int for size in sizes)

    def test_accepts_tensors(self):
        assert tf.TensorShape(tf.constant([3, 4])).as_list() == [3, 4]
        assert tf.TensorShape(tf.constant(3)).as_list() == [3]
        assert tf.TensorShape([tf.constant(3), None]).as_list() == [3, None]

    @pytest.mark.parametrize("dims", [[2.0, 3], [np.float32(2)], 2.5, ["1"], [[1, 2]], object()])
    def test_sizes_are_integers(self, dims):
        with pytest.raises(
            TypeError,
            match="Dimension value must be integer or None or have an __index__ method, got value",
        ):
            tf.TensorShape(dims)

    def test_wrong_size_is_named_with_its_type(self):
        with pytest.raises(TypeError, match=r"got value '2\.5' with type '<class 'float'>'$"):
            tf.TensorShape([2.5])

    @pytest.mark.parametrize("dims", ["ab", np.ones((2, 2), int), {1.5}])
    def test_other_iterables_name_the_culprit(self, dims):
        with pytest.raises(
            TypeError, match=r"(?s)Failed to convert .* to a shape: .*to a dimension"
        ):
            tf.TensorShape(dims)

    @pytest.mark.parametrize("dims", [[-1, 2], -1, np.array([-1])])
    def test_sizes_are_not_negative(self, dims):
        with pytest.raises(ValueError, match=r"^Dimension -1 must be >= 0$"):
            tf.TensorShape(dims)

    def test_dims_are_required(self):
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'dims'"):
            tf.TensorShape()  # type: ignore[call-arg]

    def test_a_list_changed_later_does_not_matter(self):
        dims = [2, 3]
        shape = tf.TensorShape(dims)
        dims[0] = 9
        shape.as_list()[0] = 9
        shape.dims[0] = 9
        assert shape.as_list() == [2, 3]

    @pytest.mark.beyond_tensorflow
    def test_booleans_become_numbers(self):
        assert repr(tf.TensorShape([True, False])) == "TensorShape([1, 0])"


class TestKnowledge:
    @pytest.mark.parametrize(
        ("dims", "rank", "elements", "full"),
        [
            ([2, 3], 2, 6, True),
            ([], 0, 1, True),
            ([0, 3], 2, 0, True),
            ([2, None], 2, None, False),
            (None, None, None, False),
        ],
    )
    def test_rank_and_elements(self, dims, rank, elements, full):
        shape = tf.TensorShape(dims)
        assert shape.rank == shape.ndims == rank
        assert shape.num_elements() == elements
        assert shape.is_fully_defined() is full

    def test_dims(self):
        assert tf.TensorShape([2, 3]).dims == [2, 3]
        assert tf.TensorShape([]).dims == []
        assert UNKNOWN.dims is None

    def test_as_list_needs_a_rank(self):
        with pytest.raises(ValueError, match=r"^as_list\(\) is not defined on an unknown Tensor"):
            UNKNOWN.as_list()

    def test_assert_is_fully_defined(self):
        tf.TensorShape([2, 3]).assert_is_fully_defined()
        with pytest.raises(ValueError, match=r"^Shape \(2, None\) is not fully defined$"):
            tf.TensorShape([2, None]).assert_is_fully_defined()
        with pytest.raises(ValueError, match=r"^Shape <unknown> is not fully defined$"):
            UNKNOWN.assert_is_fully_defined()


class TestRanks:
    def test_assert_has_rank(self):
        tf.TensorShape([2, 3]).assert_has_rank(2)
        UNKNOWN.assert_has_rank(2)
        with pytest.raises(ValueError, match=r"^Shape \(2, 3\) must have rank 3$"):
            tf.TensorShape([2, 3]).assert_has_rank(3)

    def test_assert_same_rank(self):
        tf.TensorShape([2, 3]).assert_same_rank([1, None])
        tf.TensorShape([2, 3]).assert_same_rank(None)
        with pytest.raises(
            ValueError, match=r"^Shapes \(2, 3\) and \(1,\) must have the same rank$"
        ):
            tf.TensorShape([2, 3]).assert_same_rank([1])

    @pytest.mark.parametrize(
        ("dims", "rank", "expected"),
        [
            ([2, 3], 2, [2, 3]),
            ([2, 3], None, [2, 3]),
            (None, 2, [None, None]),
            (None, 0, []),
        ],
    )
    def test_with_rank(self, dims, rank, expected):
        assert tf.TensorShape(dims).with_rank(rank).as_list() == expected

    def test_with_rank_mismatch(self):
        with pytest.raises(ValueError, match=r"^Shape \(2, 3\) must have rank 3$"):
            tf.TensorShape([2, 3]).with_rank(3)

    def test_with_rank_at_least(self):
        shape = tf.TensorShape([2, 3])
        assert shape.with_rank_at_least(2) == shape
        assert UNKNOWN.with_rank_at_least(3).rank is None
        with pytest.raises(ValueError, match=r"^Shape \(2, 3\) must have rank at least 3$"):
            shape.with_rank_at_least(3)

    def test_with_rank_at_most(self):
        shape = tf.TensorShape([2, 3])
        assert shape.with_rank_at_most(2) == shape
        assert UNKNOWN.with_rank_at_most(1).rank is None
        with pytest.raises(ValueError, match=r"^Shape \(2, 3\) must have rank at most 1$"):
            shape.with_rank_at_most(1)


class TestRelations:
    @pytest.mark.parametrize(
        ("first", "second", "compatible"),
        [
            ([2, 3], [2, 3], True),
            ([2, 3], (2, None), True),
            ([2, 3], None, True),
            (None, [1], True),
            ([2], 2, True),
            ([2, 3], [2, 4], False),
            ([2, 3], [2], False),
        ],
    )
    def test_is_compatible_with(self, first, second, compatible):
        assert tf.TensorShape(first).is_compatible_with(second) is compatible

    def test_assert_is_compatible_with(self):
        tf.TensorShape([2, 3]).assert_is_compatible_with([None, 3])
        with pytest.raises(ValueError, match=r"^Shapes \(2, 3\) and \(2,\) are incompatible$"):
            tf.TensorShape([2, 3]).assert_is_compatible_with(tf.TensorShape([2]))

    @pytest.mark.parametrize(
        ("first", "second", "merged"),
        [
            ([2, None], [None, 3], [2, 3]),
            ([2, None], None, [2, None]),
            (None, [1, 2], [1, 2]),
            (None, None, None),
        ],
    )
    def test_merge_with(self, first, second, merged):
        assert sizes_of(tf.TensorShape(first).merge_with(second)) == merged

    @pytest.mark.parametrize(("other", "text"), [([3, 3], r"\(3, 3\)"), ([3], r"\(3,\)")])
    def test_merge_with_conflict(self, other, text):
        with pytest.raises(
            ValueError, match=rf"^Shapes \(2, None\) and {text} are not compatible$"
        ):
            tf.TensorShape([2, None]).merge_with(other)

    @pytest.mark.parametrize(
        ("first", "second", "common"),
        [
            ([2, 3], [2, 4], [2, None]),
            ([2, 3], [2, 3], [2, 3]),
            ([None], [3], [None]),
            ([2, 3], [2], None),
            ([2, 3], None, None),
        ],
    )
    def test_most_specific_compatible_shape(self, first, second, common):
        shape = tf.TensorShape(first)
        assert sizes_of(shape.most_specific_compatible_shape(second)) == common
        supertype = shape.most_specific_common_supertype([tf.TensorShape(second)])
        assert supertype is not None
        assert sizes_of(supertype) == common

    def test_most_specific_common_supertype_of_several(self):
        shape = tf.TensorShape([2, 3])
        others = [tf.TensorShape([2, 3]), tf.TensorShape([None, 3])]
        assert shape.most_specific_common_supertype(others) == [None, 3]
        assert shape.most_specific_common_supertype([]) == shape
        assert shape.most_specific_common_supertype([[2, 3]]) is None

    @pytest.mark.parametrize(
        ("narrow", "wide", "expected"),
        [
            ([2, 3], [None, 3], True),
            ([2, 3], None, True),
            (None, None, True),
            ([None, 3], [2, 3], False),
            (None, [2], False),
            ([2], [2, 3], False),
        ],
    )
    def test_is_subtype_of(self, narrow, wide, expected):
        assert tf.TensorShape(narrow).is_subtype_of(tf.TensorShape(wide)) is expected

    def test_only_shapes_have_subtypes(self):
        assert tf.TensorShape([2]).is_subtype_of([2]) is False

    @pytest.mark.parametrize(
        ("first", "second", "expected"),
        [
            ([2, None], [3], [2, None, 3]),
            ([2], 3, [2, 3]),
            ([2], [], [2]),
            ([2], None, None),
            (None, [1], None),
        ],
    )
    def test_concatenate_and_add(self, first, second, expected):
        assert sizes_of(tf.TensorShape(first).concatenate(second)) == expected
        assert sizes_of(tf.TensorShape(first) + second) == expected

    @pytest.mark.parametrize(
        ("first", "expected"), [([1], [1, 2]), ((1,), [1, 2]), (1, [1, 2]), (None, None)]
    )
    def test_reflected_add(self, first, expected):
        assert sizes_of(first + tf.TensorShape([2])) == expected

    @pytest.mark.parametrize(
        "combine",
        [
            lambda shape: shape + "a",
            lambda shape: "a" + shape,
            lambda shape: shape.concatenate("a"),
            lambda shape: shape.merge_with("a"),
            lambda shape: shape.is_compatible_with("a"),
        ],
    )
    def test_not_a_shape(self, combine):
        with pytest.raises(TypeError, match="A shape should either be single dimension"):
            combine(tf.TensorShape([2]))


class TestSequence:
    def test_length_and_iteration(self):
        shape = tf.TensorShape([2, None])
        assert len(shape) == 2
        assert list(shape) == [2, None]
        assert list(reversed(shape)) == [None, 2]
        assert 2 in shape
        assert 5 not in shape

    def test_unknown_rank_has_no_length(self):
        with pytest.raises(ValueError, match=r"^Cannot take the length of shape with unknown rank"):
            len(UNKNOWN)
        with pytest.raises(ValueError, match=r"^Cannot iterate over a shape with unknown rank"):
            iter(UNKNOWN)

    @pytest.mark.parametrize(
        ("dims", "truth"), [([2], True), ([], True), ([0], True), (None, False)]
    )
    def test_truth_is_a_known_rank(self, dims, truth):
        assert bool(tf.TensorShape(dims)) is truth

    def test_indexing(self):
        shape = tf.TensorShape([2, 3, None])
        assert shape[0] == 2
        assert shape[-1] is None
        assert shape[np.int64(1)] == 3
        assert type(shape[0]) is int
        with pytest.raises(IndexError):
            shape[3]
        with pytest.raises(TypeError):
            shape["a"]

    @pytest.mark.parametrize(
        ("key", "expected"),
        [
            (slice(1, None), [3, 4]),
            (slice(None, 1), [2]),
            (slice(None, None, -1), [4, 3, 2]),
            (slice(None, None, 2), [2, 4]),
            (slice(-2, None), [3, 4]),
            (slice(5, None), []),
        ],
    )
    def test_slicing(self, key, expected):
        part = tf.TensorShape([2, 3, 4])[key]
        assert isinstance(part, tf.TensorShape)
        assert part.as_list() == expected

    @pytest.mark.parametrize(
        ("key", "expected"),
        [
            (slice(None), None),
            (slice(1, None), None),
            (slice(None, 2), [None, None]),
            (slice(1, 3), [None, None]),
            (slice(3, 1), []),
            (slice(1, -1), None),
            (slice(-2, None), None),
        ],
    )
    def test_slicing_unknown_rank(self, key, expected):
        assert sizes_of(UNKNOWN[key]) == expected

    def test_items_of_unknown_rank(self):
        assert UNKNOWN[0] is None
        assert UNKNOWN[-1] is None
        with pytest.raises(ValueError):  # noqa: PT011 (the text is our own)
            UNKNOWN[::2]

    @pytest.mark.beyond_tensorflow
    def test_unknown_rank_needs_an_integer_index_too(self):
        with pytest.raises(TypeError):
            UNKNOWN["a"]

    def test_numpy_takes_it_as_a_shape(self):
        assert np.zeros(tf.TensorShape([2, 3])).shape == (2, 3)
        assert np.array(tf.TensorShape([2, 3])).tolist() == [2, 3]

    def test_is_a_leaf_not_a_tuple(self):
        shape = tf.TensorShape([2, 3])
        assert not isinstance(shape, (tuple, list))
        assert tf.nest.flatten([shape]) == [shape]


class TestEquality:
    @pytest.mark.parametrize(
        ("dims", "other"),
        [
            ([2, 3], [2, 3]),
            ([2, 3], (2, 3)),
            ([2, 3], tf.TensorShape([2, 3])),
            ([2, 3], np.array([2, 3])),
            ([2], 2),
            ([], []),
            ([], ()),
            ([None, 3], [None, 3]),
            (None, None),
            (None, UNKNOWN),
        ],
    )
    def test_equal(self, dims, other):
        assert (tf.TensorShape(dims) == other) is True
        assert (tf.TensorShape(dims) != other) is False

    @pytest.mark.parametrize(
        ("dims", "other"),
        [
            ([2, 3], [2, 4]),
            ([2, 3], [2]),
            ([2, 3], None),
            ([], None),
            ([], 0),
            ([None], [3]),
            (None, [1]),
            ([2], "a"),
            ([2], 2.0),
            ([2], [2.0]),
            ([2], object()),
        ],
    )
    def test_unequal(self, dims, other):
        assert (tf.TensorShape(dims) == other) is False
        assert (tf.TensorShape(dims) != other) is True

    def test_reflected(self):
        plain_shapes = [(2, 3), [2, 3]]
        for plain in plain_shapes:
            assert plain == tf.TensorShape([2, 3])
            assert plain in [tf.TensorShape([2, 3])]

    @pytest.mark.beyond_tensorflow
    def test_comparing_never_raises(self):
        assert tf.TensorShape([2]) != [-1]

    def test_no_order(self):
        with pytest.raises(TypeError, match="'<' not supported"):
            tf.TensorShape([2]) < tf.TensorShape([3])  # type: ignore[operator]  # noqa: B015

    def test_hash_agrees_with_equality(self):
        assert hash(tf.TensorShape([2, None])) == hash((2, None))
        assert len({tf.TensorShape([2, 3]), tf.TensorShape((2, 3)), tf.TensorShape([3, 2])}) == 2
        assert (2, 3) in {tf.TensorShape([2, 3])}
        assert len({UNKNOWN, tf.TensorShape(None)}) == 1


class TestText:
    @pytest.mark.parametrize(
        ("dims", "text", "representation"),
        [
            ([2, 3], "(2, 3)", "TensorShape([2, 3])"),
            ([3], "(3,)", "TensorShape([3])"),
            ([], "()", "TensorShape([])"),
            ([None, 3], "(None, 3)", "TensorShape([None, 3])"),
            (None, "<unknown>", "TensorShape(None)"),
        ],
    )
    def test_str_and_repr(self, dims, text, representation):
        shape = tf.TensorShape(dims)
        assert str(shape) == f"{shape}" == text
        assert repr(shape) == representation

    @pytest.mark.parametrize("dims", [[2, None], [], None])
    @pytest.mark.parametrize(
        "duplicate", [copy.copy, copy.deepcopy, lambda shape: pickle.loads(pickle.dumps(shape))]
    )
    def test_copies(self, dims, duplicate):
        shape = tf.TensorShape(dims)
        result = duplicate(shape)
        assert type(result) is tf.TensorShape
        assert result == shape
