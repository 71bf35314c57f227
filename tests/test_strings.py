"""String tensors and tf.strings, with TensorFlow's results."""

import numpy as np
import pytest

import gradtape as tf

S = tf.strings


def listed(x):
    if isinstance(x, tf.RaggedTensor):
        return x.to_list()
    return x.numpy().tolist() if x.ndim else x.numpy()


CALLS = {
    "lower": (lambda: S.lower(["AÉ"]), ["aÉ".encode()]),
    "upper": (lambda: S.upper(["aéß"], encoding="utf-8"), ["AÉSS".encode()]),
    "strip": (lambda: S.strip([" a \n"]), [b"a"]),
    "length": (lambda: S.length(["aé"], unit="UTF8_CHAR"), [2]),
    "substr": (lambda: S.substr(["hello", "world"], [1, -3], [9, 2]), [b"ello", b"rl"]),
    "to_number": (lambda: S.to_number(["1.5", "0x10"]), [1.5, 16.0]),
    "as_string": (lambda: S.as_string([3.14159], precision=2), [b"3.14"]),
    "join": (lambda: S.join(["a", ["b", "c"]], "-"), [b"a-b", b"a-c"]),
    "reduce_join": (lambda: S.reduce_join([["a", "b"], ["c", "d"]]), b"abcd"),
    "reduce_join_ragged": (
        lambda: S.reduce_join(tf.ragged.constant([["a", "b"], ["c"]]), axis=-1, separator="-"),
        [b"a-b", b"c"],
    ),
    "segment_join": (
        lambda: S.unsorted_segment_join(["a", "b", "c"], [1, 0, 1], 3, separator="-"),
        [b"b", b"a-c", b""],
    ),
    "full_match": (lambda: S.regex_full_match(["abc", "ab"], "a.*c"), [True, False]),
    "replace": (lambda: S.regex_replace("abc", "x*", "-"), b"-a-b-c-"),
    "split": (lambda: S.split(["a b  c", "", "d"]), [[b"a", b"b", b"c"], [], [b"d"]]),
    "split_scalar": (lambda: S.split("a,b,,c", ","), [b"a", b"b", b"", b"c"]),
    "split_few": (lambda: S.split([" a b  c "], maxsplit=1), [[b"a", b"b  c "]]),
    "split_matrix": (lambda: S.split([[" a b"]]), [[[b"a", b"b"]]]),
    "split_ragged": (lambda: S.split(tf.ragged.constant([["a b"], []])), [[[b"a", b"b"]], []]),
    "bytes_split": (lambda: S.bytes_split([["a", "bc"]]), [[[b"a"], [b"b", b"c"]]]),
    "ngrams": (lambda: S.ngrams(["a", "b", "c"], (1, 2), "|"), [b"a", b"b", b"c", b"a|b", b"b|c"]),
    "ngrams_padded": (
        lambda: S.ngrams(["a", "b"], 3, pad_values="_"),
        [b"_ _ a", b"_ a b", b"a b _", b"b _ _"],
    ),
    "ngrams_pair": (
        lambda: S.ngrams(["a", "b"], 3, pad_values=("<", ">"), padding_width=1),
        [b"< a b", b"a b >"],
    ),
    "ngrams_ragged": (
        lambda: S.ngrams(tf.ragged.constant([["a", "b", "c"], ["d"]]), 2),
        [[b"a b", b"b c"], []],
    ),
    "ngrams_short": (lambda: S.ngrams(["a", "b"], 3, preserve_short_sequences=True), [b"a b"]),
    "decode": (lambda: S.unicode_decode(["aé", ""], "UTF-8"), [[97, 233], []]),
    "decode_bad": (lambda: S.unicode_decode([b"a\xffb"], "UTF-8"), [[97, 65533, 98]]),
    "decode_ignore": (lambda: S.unicode_decode([b"a\xffb"], "UTF-8", "ignore"), [[97, 98]]),
    "decode_utf16": (lambda: S.unicode_decode([b"\x00a\x00b"], "UTF-16-BE"), [[97, 98]]),
    "decode_offsets": (
        lambda: S.unicode_decode_with_offsets(["aé€b"], "UTF-8")[1], [[0, 1, 3, 6]],
    ),
    "encode": (lambda: S.unicode_encode([[97, 233], [1, 2]], "UTF-16-BE"),
               [b"\x00a\x00\xe9", b"\x00\x01\x00\x02"]),
    "encode_ragged": (
        lambda: S.unicode_encode(tf.ragged.constant([[97, 233], [98]]), "UTF-8"),
        ["aé".encode(), b"b"],
    ),
    "encode_bad": (lambda: S.unicode_encode([0x110000, 97], "UTF-8"), b"\xef\xbf\xbda"),
    "unicode_split": (lambda: S.unicode_split(["aé", "b"], "UTF-8"),
                      [[b"a", "é".encode()], [b"b"]]),
    "split_offsets": (lambda: S.unicode_split_with_offsets("aé€", "UTF-8")[1], [0, 1, 3]),
    "transcode": (lambda: S.unicode_transcode([b"\xe9"], "latin1", "UTF-8"), ["é".encode()]),
    "script": (lambda: S.unicode_script([97, 0x3042, -1]), [25, 20, -1]),
    "format": (
        lambda: S.format("a {} b {}", (tf.range(10), tf.constant("x"))),
        b'a [0 1 2 ... 7 8 9] b "x"',
    ),
    "format_matrix": (lambda: S.format("t: {}", tf.constant([[1.5, 2], [3, 4]])),
                      b"t: [[1.5 2]\n [3 4]]"),
    "add": (lambda: tf.constant(["a"]) + tf.constant(["b"]), [b"ab"]),
    "equal": (lambda: tf.constant("a") == tf.constant(["a", "b"]), [True, False]),
    "empty": (lambda: S.lower([]), []),
}  # fmt: skip


@pytest.mark.parametrize(("call", "expected"), CALLS.values(), ids=CALLS)
def test_values(call, expected):
    assert listed(call()) == expected


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: S.lower(1), TypeError, "Cannot convert 1 to EagerTensor of dtype string"),
        (lambda: S.lower("a", "latin1"), tf.errors.InvalidArgumentError, "only utf-8"),
        (lambda: S.to_number(["abc"]), tf.errors.InvalidArgumentError, "convert string: abc"),
        (lambda: S.to_number(["1"], tf.uint8), tf.errors.InvalidArgumentError, "of uint8 is not"),
        (lambda: S.format("{} {}", tf.constant(1)), ValueError, "The template expects 2 tensors"),
        (
            lambda: S.unsorted_segment_join(["a"], [3], 2),
            tf.errors.InvalidArgumentError,
            "segment_ids are not allowed to exceed num_segments",
        ),
        (
            lambda: S.unicode_decode([b"\xff"], "UTF-8", errors="strict"),
            tf.errors.InvalidArgumentError,
            "Invalid formatting on input string",
        ),
        (
            lambda: S.unicode_decode(["a"], "X"),
            tf.errors.InvalidArgumentError,
            "Could not create converter for input encoding: X",
        ),
        (
            lambda: S.unicode_encode([0x110000], "UTF-8", errors="strict"),
            tf.errors.InvalidArgumentError,
            "Code point is out of range",
        ),
        (
            lambda: S.unicode_transcode(["a"], "UTF-8", "UTF-7"),
            tf.errors.InvalidArgumentError,
            "Value for attr 'output_encoding' of \"UTF-7\"",
        ),
        (lambda: tf.cast("1", tf.int32), tf.errors.UnimplementedError, "Cast string to int32"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_long_fingerprints_differ_and_stay():
    words = [b"q" * n for n in range(130)]
    found = S.to_hash_bucket_fast(words, 2**62).numpy()
    assert len(np.unique(found)) == len(words)
    assert found[65] == 3080958293828885289


def test_scalar_strings_add():
    a = tf.constant("a")
    assert (a + tf.constant("b")).numpy() == b"ab"
    assert (a + "c" + a).shape == ()
    assert (a + tf.constant(["x", "y"])).numpy().tolist() == [b"ax", b"ay"]
