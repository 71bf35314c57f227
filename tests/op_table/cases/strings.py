"""Cases of gradtape.ops.strings; values are TensorFlow's."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.op import NON_DIFFERENTIABLE

from ..case import Case, Failure, Sample


def texts(*items, shape=None):
    array = np.empty(len(items), object)
    array[:] = items
    return array if shape is None else array.reshape(shape)


ONE = texts(b"Ab", shape=())
NONE = texts()
NUMBERS = np.array([1.0, 2.0])


def _case(op, samples, error=InvalidArgumentError, match="expected to be a string", failure=None):
    """Samples are (inputs, attributes, value); unless told otherwise, numbers are refused."""
    samples = [Sample(inputs, attrs, expected=value) for inputs, attrs, value in samples]
    inputs, attrs = failure or ((NUMBERS, *samples[0].inputs[1:]), samples[0].attrs)
    return Case(
        op=op,
        samples=samples,
        reference=_unused,
        state=NON_DIFFERENTIABLE,
        failures=[Failure(inputs, attrs, error, match)],
    )


def _unused(*inputs, **attrs):
    raise AssertionError("every sample has its value written down")


def _int64(*items):
    return np.array(items, np.int64)


AS_STRING = {"precision": -1, "scientific": False, "shortest": False, "width": -1, "fill": ""}

CASES = [
    _case("StringLower", [
        ((texts(b"AB", b"c"),), {"encoding": ""}, texts(b"ab", b"c")),
        ((texts("É".encode()),), {"encoding": "utf-8"}, texts("é".encode())),
        ((ONE,), {"encoding": ""}, texts(b"ab", shape=())),
        ((NONE,), {"encoding": ""}, NONE),
    ]),
    _case("StringUpper", [
        ((texts(b"ab", b"C"),), {"encoding": ""}, texts(b"AB", b"C")),
        ((texts("ß".encode()),), {"encoding": "utf-8"}, texts(b"SS")),
        ((ONE,), {"encoding": ""}, texts(b"AB", shape=())),
    ]),
    _case("StringStrip", [
        ((texts(b" a \n", b"b\t"),), {}, texts(b"a", b"b")),
        ((NONE,), {}, NONE),
    ]),
    _case("StringLength", [
        ((texts("aé".encode(), b""),), {"unit": "BYTE"}, np.array([3, 0], np.int32)),
        ((texts("aé".encode(), b""),), {"unit": "UTF8_CHAR"}, np.array([2, 0], np.int32)),
        ((ONE,), {"unit": "BYTE"}, np.array(2, np.int32)),
    ], failure=((ONE,), {"unit": "X"}), match="Value for attr 'unit' of \"X\""),
    _case("Substr", [
        ((texts(b"hello", b"world"), _int64(1, -3), _int64(9, 2)), {"unit": "BYTE"},
         texts(b"ello", b"rl")),
        ((texts(b"hello", b"world"), np.array(1), np.array(3)), {"unit": "BYTE"},
         texts(b"ell", b"orl")),
        ((texts("éab".encode()), np.array(1), np.array(1)), {"unit": "UTF8_CHAR"}, texts(b"a")),
    ], failure=((ONE, np.array(6), np.array(1)), {"unit": "BYTE"}),
        match="pos 6 out of range for string b'Ab' at index 0"),
    _case("StringToNumber", [
        ((texts(b"1.5", b" 2 ", b"-inf", b"1e3"),), {"out_type": np.dtype(np.float32)},
         np.array([1.5, 2, -np.inf, 1000], np.float32)),
        ((texts(b"1", b"-7"),), {"out_type": np.dtype(np.int32)}, np.array([1, -7], np.int32)),
        ((texts(b"7", shape=()),), {"out_type": np.dtype(np.int64)}, np.array(7)),
    ], failure=((texts(b"1.5"),), {"out_type": np.dtype(np.int64)}),
        match="could not correctly convert string: 1.5"),
    _case("AsString", [
        ((np.array([3.14159265, np.inf], np.float32),), AS_STRING, texts(b"3.141593", b"inf")),
        ((np.array([3.14159265], np.float32),), {**AS_STRING, "precision": 2, "width": 8},
         texts(b"    3.14")),
        ((np.array([3.0], np.float32),), {**AS_STRING, "width": 10, "fill": "+"},
         texts(b" +3.000000")),
        ((np.array([1.5], np.float32),), {**AS_STRING, "shortest": True}, texts(b"1.5")),
        ((np.array([1.5], np.float32),), {**AS_STRING, "scientific": True},
         texts(b"1.500000e+00")),
        ((np.array([3, -42], np.int32),), {**AS_STRING, "width": 5, "fill": "0"},
         texts(b"00003", b"-0042")),
        ((np.array([True, False]),), AS_STRING, texts(b"true", b"false")),
        ((np.array([1 + 2j]),), AS_STRING, texts(b"(1.000000,2.000000)")),
        ((texts(b"a"),), {**AS_STRING, "width": 5}, texts(b"    a")),
    ], failure=((np.array([1]),), {**AS_STRING, "precision": 2}),
        match="precision not supported for datatype int64"),
    _case("StaticRegexFullMatch", [
        ((texts(b"abc", b"xbc", b"ab"),), {"pattern": b"a.*c"}, np.array([True, False, False])),
        ((texts("é".encode(), shape=()),), {"pattern": b"."}, np.array(True)),
    ], failure=((ONE,), {"pattern": b"("}), match=r"Invalid pattern: \(, error: missing \)"),
    _case("StaticRegexReplace", [
        ((texts(b"abcabc", b"x"),),
         {"pattern": b"b(c)", "rewrite": rb"[\1\0]", "replace_global": True},
         texts(b"a[cbc]a[cbc]", b"x")),
        ((texts(b"aaa"),), {"pattern": b"a", "rewrite": b"b", "replace_global": False},
         texts(b"baa")),
        ((texts(b"a1 b2"),), {"pattern": b"[[:digit:]]", "rewrite": b"#", "replace_global": True},
         texts(b"a# b#")),
        ((texts(b"a\nb"),), {"pattern": b"$", "rewrite": b"!", "replace_global": True},
         texts(b"a\nb!")),
        ((texts(b"aaa"),), {"pattern": b"a", "rewrite": rb"\2", "replace_global": True},
         texts(b"aaa")),
    ]),
    _case("StringToHashBucket", [
        ((texts(b"", b"a", b"y" * 32),), {"num_buckets": 2**62},
         _int64(105434511174508091, 2996632905371535868, 3874897754820414304)),
    ]),
    _case("StringToHashBucketFast", [
        ((texts(b"", b"a", b"hello", b"12345678", b"x" * 17, b"z" * 33, b"q" * 65, b"w" * 128),),
         {"num_buckets": 2**62},
         _int64(1936946117179621455, 3694432073954588131, 3786372426573024488,
                3430003927990384362, 2082709914559524773, 1983000239170337647,
                3080958293828885289, 1651997402916279192)),
    ], failure=((ONE,), {"num_buckets": 0}), match="must be at least minimum 1"),
    _case("StringToHashBucketStrong", [
        ((texts(b"", b"a", b"q" * 65),), {"num_buckets": 2**62, "key": (1, 2)},
         _int64(443797209252341627, 546566331822570742, 629938290294580986)),
    ], failure=((ONE,), {"num_buckets": 3, "key": (1,)}), match="Key must have 2 elements"),
    _case("UnicodeScript", [
        ((np.array([97, 0x3B1, 0x4E2D, 32, 0x10FFFF, -1, 0x110000], np.int32),), {},
         np.array([25, 14, 17, 0, 103, -1, -1], np.int32)),
        ((np.array(0x5D0, np.int32),), {}, np.array(19, np.int32)),
    ], match="expected to be a int32"),
]  # fmt: skip
