"""tf.nest: comparing structures, composites, paths to leaves and shallow structures."""

import collections
import types

import numpy as np
import pytest

import gradtape as tf
from gradtape.core import containers, nest as internal
from nest_samples import (
    DICT,
    Attrs,
    FrozenMap,
    Opened,
    OtherPoint,
    Plain,
    Point,
    SubDict,
    SubList,
    SubTuple,
)


class TestSameStructure:
    @pytest.mark.parametrize(
        ("first", "second"),
        [
            (1, "a"),
            (1, np.arange(3)),
            (None, 1),
            ([1, 2], [3, None]),
            ({"a": 1, "b": 2}, {"b": 1, "a": 2}),
            ({"a": 1}, collections.OrderedDict(a=1)),
            ({"a": 1}, collections.defaultdict(int, a=1)),
            ({"a": 1}, SubDict(a=1)),
            (FrozenMap({"a": 1}), {"a": 1}),
            (collections.UserDict(a=1), {"a": 1}),
            ([1], SubList([1])),
            (SubTuple([1]), SubTuple([1])),
            (Point(1, 2), Point(3, 4)),
            (Point(1, 2), collections.namedtuple("Point", "x y")(3, 4)),
            (range(2), range(2)),
            (DICT.values(), {"q": 1, "r": 2}.values()),
            (Opened(1, 2, "t"), Opened(3, 4, "u")),
            (Attrs(1, 2), Attrs(3, 4)),
            (Plain(1), 5),
            ([], []),
        ],
    )
    def test_same(self, first, second):
        tf.nest.assert_same_structure(first, second)

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ([1, 2], (3, 4)),
            ([], ()),
            ([1], {"a": 1}),
            ({"a": 1}, {"b": 1}),
            ((1, 2), Point(3, 4)),
            (Point(1, 2), OtherPoint(3, 4)),
            ((1,), SubTuple([1])),
            (range(2), [0, 1]),
            (DICT.values(), [1, 2]),
            (collections.deque([1]), [1]),
            (collections.UserList([1]), [1]),
            (Opened(1, 2), [1, 2]),
            (Attrs(1, 2), [1, 2]),
        ],
    )
    def test_types_matter_unless_told(self, first, second):
        with pytest.raises((TypeError, ValueError)) as raised:
            tf.nest.assert_same_structure(first, second)
        keys_differ = isinstance(first, dict) and isinstance(second, dict)
        assert raised.type is (ValueError if keys_differ else TypeError)
        tf.nest.assert_same_structure(first, second, check_types=False)

    @pytest.mark.parametrize("check_types", [True, False])
    @pytest.mark.parametrize(
        ("first", "second"),
        [
            (1, [1]),
            ([1], 1),
            (None, []),
            ("a", ["a"]),
            ({1}, [1]),
            ([1, 2], [1]),
            ([1, [2]], [1, 2]),
            ([1, 2], [1, [2]]),
            ({"a": [1]}, {"a": 1}),
            ({"a": 1}, {"a": 1, "b": 2}),
            ([1, 2, [3, 4]], [1, 2, [3, 4, 5]]),
            (Point(1, [2]), Point(1, 2)),
            (Opened(1, [2]), Opened(3, 4)),
        ],
    )
    def test_form_matters_always(self, first, second, check_types):
        with pytest.raises(ValueError, match=r"^The two structures don't have the same nested str"):
            tf.nest.assert_same_structure(first, second, check_types=check_types)

    @pytest.mark.parametrize(
        ("first", "second", "error", "message"),
        [
            (
                [1, [2]],
                [1, (2,)],
                TypeError,
                "First structure: type=list str=[1, [2]]\n\n"
                "Second structure: type=list str=[1, (2,)]\n\n"
                "More specifically: The two namedtuples don't have the same sequence type. First "
                "structure type=list str=[2] has type list, while second structure type=tuple "
                "str=(2,) has type tuple\n"
                "Entire first structure:\n[., [.]]\nEntire second structure:\n[., (.,)]",
            ),
            (
                "a",
                ["a"],
                ValueError,
                "First structure: type=str str=a\n\n"
                "Second structure: type=list str=['a']\n\n"
                "More specifically: Substructure \"type=list str=['a']\" is a sequence, while "
                'substructure "type=str str=a" is not\n'
                "Entire first structure:\n.\nEntire second structure:\n[.]",
            ),
            (
                {"b": 1, "a": 2},
                {"c": 1, "a": 2},
                ValueError,
                "First structure: type=dict str={'b': 1, 'a': 2}\n\n"
                "Second structure: type=dict str={'c': 1, 'a': 2}\n\n"
                "More specifically: The two dictionaries don't have the same set of keys. First "
                "structure has keys type=list str=['b', 'a'], while second structure has keys "
                "type=list str=['c', 'a']\n"
                "Entire first structure:\n{'b': ., 'a': .}\n"
                "Entire second structure:\n{'c': ., 'a': .}",
            ),
            (
                [Point([1, 2], 3)],
                [Point([1], 3)],
                ValueError,
                "First structure: type=list str=[Point(x=[1, 2], y=3)]\n\n"
                "Second structure: type=list str=[Point(x=[1], y=3)]\n\n"
                "More specifically: The two structures don't have the same number of elements. "
                "First structure: type=list str=[1, 2]. Second structure: type=list str=[1]\n"
                "Entire first structure:\n[Point(x=[., .], y=.)]\n"
                "Entire second structure:\n[Point(x=[.], y=.)]",
            ),
        ],
    )
    def test_messages(self, first, second, error, message):
        with pytest.raises(error) as raised:
            tf.nest.assert_same_structure(first, second)
        assert str(raised.value) == (
            f"The two structures don't have the same nested structure.\n\n{message}"
        )

    def test_first_difference_is_reported_before_the_length(self):
        with pytest.raises(ValueError, match="is a sequence, while substructure"):
            tf.nest.assert_same_structure([1, 2], [[1]])

    @pytest.mark.beyond_tensorflow
    def test_mismatch_shows_through_containers_that_cannot_be_rebuilt(self):
        with pytest.raises(ValueError, match="is a sequence, while substructure"):
            tf.nest.assert_same_structure([types.MappingProxyType(DICT)], [1])


@pytest.fixture
def slices():
    return tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]))


@pytest.fixture
def slices_with_shape():
    return tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([3, 1]))


class TestComposites:
    def test_are_leaves(self, slices):
        assert tf.nest.is_nested(slices) is False
        (found,) = tf.nest.flatten(slices)
        assert found is slices
        assert tf.nest.pack_sequence_as(slices, [5]) == 5
        tf.nest.assert_same_structure(slices, 1)
        assert tf.nest.map_structure(lambda x: type(x).__name__, [slices]) == ["IndexedSlices"]

    def test_are_opened_on_demand(self, slices, slices_with_shape):
        found = tf.nest.flatten([slices, 1], expand_composites=True)
        assert found[0] is slices.values
        assert found[1] is slices.indices
        assert found[2:] == [1]
        assert len(tf.nest.flatten(slices_with_shape, expand_composites=True)) == 3
        assert len(tf.nest.flatten([slices])) == 1

    def test_pack(self, slices):
        values, indices = tf.constant([[5.0]]), tf.constant([2])
        packed, number = tf.nest.pack_sequence_as(
            [slices, 1], [values, indices, 7], expand_composites=True
        )
        assert isinstance(packed, tf.IndexedSlices)
        assert packed.values is values
        assert packed.indices is indices
        assert number == 7
        with pytest.raises(ValueError, match="Structure had 2 atoms, but flat_sequence had 1 item"):
            tf.nest.pack_sequence_as([slices], [1], expand_composites=True)

    def test_map(self, slices):
        doubled = tf.nest.map_structure(lambda x: x + x, slices, expand_composites=True)
        assert isinstance(doubled, tf.IndexedSlices)
        assert doubled.values.numpy().tolist() == [[2.0]]

    @pytest.mark.parametrize("check_types", [True, False])
    def test_same_structure(self, slices, slices_with_shape, check_types):
        longer = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([0, 1]))
        integer = tf.IndexedSlices(tf.constant([[1]]), tf.constant([0]))
        options = {"check_types": check_types, "expand_composites": True}
        tf.nest.assert_same_structure([slices], [longer], **options)
        for other in (slices_with_shape, integer):
            with pytest.raises(ValueError, match="Incompatible CompositeTensor TypeSpecs: "):
                tf.nest.assert_same_structure(slices, other, **options)
        with pytest.raises(
            ValueError,
            match=r"is a sequence, while substructure "
            r'"type=EagerTensor str=tf\.Tensor\(1\.0, shape=\(\), dtype=float32\)" is not',
        ):
            tf.nest.assert_same_structure(slices, tf.constant(1.0), **options)


class TestPaths:
    @pytest.mark.parametrize(
        ("structure", "expected"),
        [
            (1, [("", 1)]),
            (
                [1, [2, 3], {"b": 4, "a": (5, 6)}],
                [("0", 1), ("1/0", 2), ("1/1", 3), ("2/a/0", 5), ("2/a/1", 6), ("2/b", 4)],
            ),
            (Point(1, {"k": 2}), [("x", 1), ("y/k", 2)]),
            (Attrs(1, 2), [("b", 1), ("a", 2)]),
            (Opened(1, [2]), [("0", 1), ("1/0", 2)]),
            (range(2), [("0", 0), ("1", 1)]),
            ({"a": []}, []),
        ],
    )
    def test_joined(self, structure, expected):
        assert internal.flatten_with_joined_string_paths(structure) == expected

    def test_separator(self):
        assert internal.flatten_with_joined_string_paths([[1]], separator=".") == [("0.0", 1)]

    def test_tuples(self):
        assert list(internal.flatten_with_tuple_paths({"a": [1, 2]})) == [
            (("a", 0), 1),
            (("a", 1), 2),
        ]


class TestUpTo:
    @pytest.mark.parametrize(
        ("shallow", "structure", "parts"),
        [
            ([0, 0], [[1, 2], 3], [[1, 2], 3]),
            (0, [1, 2], [[1, 2]]),
            ({"a": 0, "b": 0}, {"b": {"z": 1}, "a": [1]}, [[1], {"z": 1}]),
            (Point(0, 0), Point([1], [2]), [[1], [2]]),
            ([], [], []),
        ],
    )
    def test_flatten(self, shallow, structure, parts):
        assert internal.flatten_up_to(shallow, structure) == parts

    @pytest.mark.parametrize(
        ("shallow", "structure", "error", "message"),
        [
            ([1], 1, TypeError, "If shallow structure is a sequence, input must also be a sequen"),
            ([1], (1,), TypeError, "The two structures don't have the same sequence type. Input "),
            ([1], [1, 2], ValueError, "Input structure has length 2, while shallow structure has"),
            ({"a": 1}, {"b": [1]}, ValueError, "keys that are not in the input_tree: ['a']."),
        ],
    )
    def test_flatten_mismatch(self, shallow, structure, error, message):
        with pytest.raises(error) as raised:
            internal.flatten_up_to(shallow, structure)
        assert message in str(raised.value)

    def test_types_need_not_be_checked(self):
        assert internal.flatten_up_to([0], ([1, 2],), check_types=False) == [[1, 2]]

    def test_map(self):
        def pair(a, b):
            return a, b

        result = internal.map_structure_up_to([0, 0], pair, [[1, 2], 3], [4, [5]])
        assert result == [([1, 2], 4), (3, [5])]
        assert internal.map_structure_up_to({"b": 0, "a": 0}, str, {"a": [1], "b": 2}) == {
            "b": "2",
            "a": "[1]",
        }

    def test_map_over_nothing(self):
        with pytest.raises(ValueError, match=r"^Cannot map over no sequences$"):
            internal.map_structure_up_to([1], str)


@pytest.mark.beyond_tensorflow
def test_classes_are_not_remembered_without_end():
    for number in range(containers._MAX_REMEMBERED_CLASSES + 10):
        tf.nest.flatten([type(f"Leaf{number}", (), {})()])
    remembered = len(containers.leaf_classes) + len(containers._containers)
    assert remembered <= containers._MAX_REMEMBERED_CLASSES
    assert tf.nest.flatten([1, (2, {"a": 3})]) == [1, 2, 3]
