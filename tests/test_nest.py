"""tf.nest: what counts as a structure, taking it apart, putting it together, mapping."""

import collections
import types

import numpy as np
import pytest

import gradtape as tf
from nest_samples import (
    DICT,
    Attrs,
    CustomSequence,
    FrozenMap,
    Opened,
    Plain,
    Point,
    SubDict,
    SubList,
    SubTuple,
)

CONTAINERS = [
    ([1, (2, [3])], [1, 2, 3]),
    ({"b": 4, "a": [5]}, [5, 4]),
    (collections.OrderedDict([("b", 1), ("a", 2)]), [2, 1]),
    (collections.defaultdict(list, DICT), [2, 1]),
    (collections.Counter(DICT), [2, 1]),
    (collections.UserDict(DICT), [2, 1]),
    (SubDict(DICT), [2, 1]),
    (FrozenMap(DICT), [2, 1]),
    (types.MappingProxyType(DICT), [2, 1]),
    ({(1, 2): 1, (0, 5): 2}, [2, 1]),
    (Point(1, [2, 3]), [1, 2, 3]),
    (range(3), [0, 1, 2]),
    (DICT.values(), [1, 2]),
    (DICT.keys(), ["b", "a"]),
    (DICT.items(), ["b", 1, "a", 2]),
    (collections.deque([1, 2]), [1, 2]),
    (collections.UserList([1, 2]), [1, 2]),
    (SubList([1, 2]), [1, 2]),
    (SubTuple([1, 2]), [1, 2]),
    (CustomSequence([1, [2]]), [1, 2]),
    (Attrs(1, [2, 3]), [1, 2, 3]),
    (Opened(1, [2, 3]), [1, 2, 3]),
    ([], []),
    ((), []),
    ({}, []),
    ([[], {}, ()], []),
]
LEAVES = [
    1,
    None,
    "abc",
    b"abc",
    np.arange(3),
    {1, 2},
    frozenset([1]),
    Plain(1),
    iter([1]),
    types.SimpleNamespace(a=1),
    Opened,
    Attrs,
    len,
]


class TestFlatten:
    @pytest.mark.parametrize(("structure", "leaves"), CONTAINERS)
    def test_containers(self, structure, leaves):
        assert tf.nest.is_nested(structure) is True
        assert tf.nest.flatten(structure) == leaves

    @pytest.mark.parametrize("leaf", LEAVES)
    def test_leaves(self, leaf):
        assert tf.nest.is_nested(leaf) is False
        for structure in (leaf, [leaf], (leaf,), {"k": leaf}):
            (found,) = tf.nest.flatten(structure)
            assert found is leaf

    def test_tensors_and_variables_are_leaves(self):
        x, v = tf.constant([1.0, 2.0]), tf.Variable([1.0, 2.0])
        found = tf.nest.flatten({"v": v, "x": [x]})
        assert found[0] is v
        assert found[1] is x
        assert not tf.nest.is_nested(x)
        assert not tf.nest.is_nested(v)

    @pytest.mark.parametrize("structure", [[1, 2], (1, 2)])
    def test_gives_a_new_list(self, structure):
        leaves = tf.nest.flatten(structure)
        assert type(leaves) is list
        assert leaves is not structure

    @pytest.mark.parametrize("keys", [{1: 1, "a": 2}, {None: 1, "a": 2}])
    def test_keys_must_be_sortable(self, keys):
        with pytest.raises(TypeError, match="'<' not supported between instances of"):
            tf.nest.flatten(keys)

    def test_keywords(self):
        assert tf.nest.flatten(structure=[1], expand_composites=False) == [1]
        assert tf.nest.is_nested(seq=[1]) is True


class TestPack:
    @pytest.mark.parametrize(
        ("structure", "flat", "packed"),
        [
            (1, [5], 5),
            (None, (5,), 5),
            ([1, 2], [5, 6], [5, 6]),
            ([1, 2], (5, 6), [5, 6]),
            ([1, 2], range(2), [0, 1]),
            ((1, [2, 3], {"b": 4, "a": 5}), list("abcde"), ("a", ["b", "c"], {"b": "e", "a": "d"})),
            (Point(1, [2]), [3, 4], Point(3, [4])),
            (range(2), [3, 4], [3, 4]),
            (DICT.values(), [3, 4], [3, 4]),
            (DICT.items(), [1, 2, 3, 4], [(1, 2), (3, 4)]),
            (collections.deque([1, 2]), [3, 4], collections.deque([3, 4])),
            (collections.UserDict(DICT), [3, 4], collections.UserDict({"b": 4, "a": 3})),
            (collections.UserList([1, 2]), [3, 4], collections.UserList([3, 4])),
            (SubList([1, 2]), [3, 4], SubList([3, 4])),
            (SubTuple([1, 2]), [3, 4], SubTuple([3, 4])),
            (SubDict(DICT), [3, 4], SubDict({"b": 4, "a": 3})),
            (FrozenMap(DICT), [3, 4], FrozenMap({"b": 4, "a": 3})),
            (Opened(1, [2, 3], "q"), [7, 8, 9], Opened(7, [8, 9], "q")),
            ([], [], []),
            ([[], {}, ()], [], [[], {}, ()]),
            ([1, 2], [[3], [4]], [[3], [4]]),
        ],
    )
    def test_pack(self, structure, flat, packed):
        result = tf.nest.pack_sequence_as(structure, flat)
        assert type(result) is type(packed)
        assert result == packed

    @pytest.mark.parametrize("kind", [dict, collections.OrderedDict, SubDict])
    def test_key_order_is_kept(self, kind):
        packed = tf.nest.pack_sequence_as(kind([("b", 1), ("a", 2)]), [10, 20])
        assert type(packed) is kind
        assert list(packed.items()) == [("b", 20), ("a", 10)]

    def test_defaultdict_keeps_its_factory(self):
        packed = tf.nest.pack_sequence_as(collections.defaultdict(list, DICT), [10, 20])
        assert packed == {"b": 20, "a": 10}
        assert packed["new"] == []

    def test_attrs(self):
        packed = tf.nest.pack_sequence_as(Attrs(1, [2, 3]), [7, 8, 9])
        assert repr(packed) == "Attrs(b=7, a=[8, 9])"

    def test_original_is_unchanged(self):
        structure = {"b": [1], "a": 2}
        tf.nest.pack_sequence_as(structure, [10, 20])
        assert structure == {"b": [1], "a": 2}

    @pytest.mark.parametrize(
        ("structure", "flat", "message"),
        [
            (
                [1, 2],
                [1],
                "Could not pack sequence. Structure had 2 atoms, but flat_sequence had 1 items.  "
                "Structure: [1, 2], flat_sequence: [1].",
            ),
            (
                {"a": {"b": 1, "c": [1, 2]}},
                [1, 2],
                "Could not pack sequence. Structure had 3 atoms, but flat_sequence had 2 items.  "
                "Structure: {'a': {'b': 1, 'c': [1, 2]}}, flat_sequence: [1, 2].",
            ),
            (
                [],
                [1],
                "Could not pack sequence. Structure had 0 atoms, but flat_sequence had 1 items.  "
                "Structure: [], flat_sequence: [1].",
            ),
            (
                1,
                [1, 2],
                "The target structure is of type `<class 'int'>`\n  1\nHowever the input is a "
                "sequence (<class 'list'>) of length 2.\n  [1, 2]\nnest cannot guarantee that it "
                "is safe to map one to the other.",
            ),
        ],
    )
    def test_wrong_count(self, structure, flat, message):
        with pytest.raises(ValueError) as raised:  # noqa: PT011 (compared as a whole)
            tf.nest.pack_sequence_as(structure, flat)
        assert str(raised.value) == message

    @pytest.mark.parametrize("flat", [5, "ab", None, {5, 6}, np.arange(2), iter([5, 6])])
    def test_flat_sequence_is_a_sequence(self, flat):
        with pytest.raises(TypeError, match=r"^Attempted to pack value:\n  .*\ninto a structure, "):
            tf.nest.pack_sequence_as([1, 2], flat)

    @pytest.mark.beyond_tensorflow
    def test_flat_sequence_is_not_a_mapping(self):
        with pytest.raises(TypeError, match="found incompatible type `<class 'dict'>` instead"):
            tf.nest.pack_sequence_as([1, 2], {"a": 1, "b": 2})

    def test_mapping_that_cannot_be_rebuilt(self):
        with pytest.raises(TypeError, match=r"^Error creating an object of type <class 'mappingpr"):
            tf.nest.pack_sequence_as(types.MappingProxyType(DICT), [1, 2])


class TestMap:
    def test_one_structure(self):
        assert tf.nest.map_structure(lambda x: x + 1, {"b": (1, 2), "a": 3}) == {
            "b": (2, 3),
            "a": 4,
        }
        assert tf.nest.map_structure(lambda x: x + 1, 5) == 6
        assert tf.nest.map_structure(lambda x: x + 1, range(2)) == [1, 2]
        assert tf.nest.map_structure(lambda x: [x], [1, 2]) == [[1], [2]]
        assert tf.nest.map_structure(lambda x: x, []) == []

    def test_several_structures(self):
        def triple(*values):
            return values

        assert tf.nest.map_structure(triple, [1, [2]], [3, [4]], [5, [6]]) == [
            (1, 3, 5),
            [(2, 4, 6)],
        ]
        assert tf.nest.map_structure(
            triple, collections.OrderedDict(b=1, a=2), {"a": 20, "b": 10}
        ) == {
            "b": (1, 10),
            "a": (2, 20),
        }
        assert tf.nest.map_structure(triple, Opened(1, 2, "q"), Opened(3, 4, "r")) == Opened(
            (1, 3), (2, 4), "q"
        )

    def test_form_is_that_of_the_first(self):
        def add(a, b):
            return a + b

        result = tf.nest.map_structure(add, [1, 2], (3, 4), check_types=False)
        assert result == [4, 6]
        assert tf.nest.map_structure(add, {"a": 1}, {"b": 2}, check_types=False) == {"a": 3}

    def test_calls_in_flattened_order(self):
        seen = []
        tf.nest.map_structure(seen.append, {"b": 1, "a": [2, 3]})
        assert seen == [2, 3, 1]

    def test_mismatch(self):
        with pytest.raises(TypeError, match="don't have the same nested structure"):
            tf.nest.map_structure(max, [1], [2], (3,))
        with pytest.raises(ValueError, match="don't have the same number of elements"):
            tf.nest.map_structure(max, [1], [2], [3, 4])

    def test_errors_of_the_function_pass(self):
        with pytest.raises(ZeroDivisionError):
            tf.nest.map_structure(lambda x: 1 / x, [0])

    @pytest.mark.parametrize("func", [3, None, "f"])
    def test_func_is_callable(self, func):
        with pytest.raises(TypeError, match=f"^func must be callable, got: {func}$"):
            tf.nest.map_structure(func, [1])

    def test_needs_a_structure(self):
        with pytest.raises(ValueError, match=r"^Must provide at least one structure$"):
            tf.nest.map_structure(len)

    def test_unknown_keyword(self):
        with pytest.raises(
            ValueError,
            match="Only valid keyword arguments are `check_types` and `expand_composites`, not: "
            "`foo`",
        ):
            tf.nest.map_structure(str, [1], foo=1)
