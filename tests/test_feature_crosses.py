"""Crosses of sparse, ragged and dense features, as strings and as hashes."""

import pytest

import gradtape as tf

InvalidArgumentError = tf.errors.InvalidArgumentError

SPARSE = tf.sparse.from_dense([["a", "b"], ["c", ""]])
RAGGED = tf.ragged.constant([["a"], ["b", "c"]])
WORDS = tf.constant([["x"], ["y"]])
NUMBERS = tf.constant([[1, 2], [3, 4]])


class TestSparse:
    @pytest.mark.parametrize(
        ("inputs", "options", "expected"),
        [
            ([SPARSE, WORDS], {}, [b"a_X_x", b"b_X_x", b"c_X_y"]),
            ([WORDS, SPARSE], {}, [b"a_X_x", b"b_X_x", b"c_X_y"]),
            ([SPARSE, WORDS], {"separator": "-"}, [b"a-x", b"b-x", b"c-y"]),
            ([SPARSE], {}, [b"a", b"b", b"c"]),
            ([], {}, []),
            (
                [SPARSE, NUMBERS],
                {},
                [b"a_X_1", b"a_X_2", b"b_X_1", b"b_X_2", b"c_X_3", b"c_X_4"],
            ),
        ],
    )
    def test_strings(self, inputs, options, expected):
        assert tf.sparse.cross(inputs, **options).values.numpy().tolist() == expected

    def test_places(self):
        crossed = tf.sparse.cross([SPARSE, WORDS])
        assert crossed.indices.numpy().tolist() == [[0, 0], [0, 1], [1, 0]]
        assert crossed.dense_shape.numpy().tolist() == [2, 2]

    @pytest.mark.parametrize(
        ("inputs", "options", "expected"),
        [
            ([SPARSE, WORDS], {}, [1484974617627318892, 3552177129620670004, 6571367263544129360]),
            ([SPARSE, WORDS], {"num_buckets": 100}, [92, 4, 60]),
            ([SPARSE, WORDS], {"num_buckets": 100, "hash_key": 7}, [8, 15, 91]),
            ([SPARSE, tf.constant([[1], [2]])], {"num_buckets": 1000}, [485, 983, 523]),
        ],
    )
    def test_hashes(self, inputs, options, expected):
        crossed = tf.sparse.cross_hashed(inputs, **options).values
        assert crossed.dtype == tf.int64
        assert crossed.numpy().tolist() == expected

    @pytest.mark.parametrize(
        ("inputs", "error", "message"),
        [
            ([SPARSE, tf.constant([["x"]])], InvalidArgumentError, "batch"),
            ([SPARSE, tf.constant(["x", "y"])], InvalidArgumentError, "should be a matrix"),
            (SPARSE, TypeError, "Inputs must be a list"),
            ([SPARSE, RAGGED], TypeError, "must be Tensor or SparseTensor"),
        ],
    )
    def test_errors(self, inputs, error, message):
        with pytest.raises(error, match=message):
            tf.sparse.cross(inputs)

    def test_negative_number_of_buckets(self):
        with pytest.raises(InvalidArgumentError, match="'num_buckets' of -3"):
            tf.sparse.cross_hashed([SPARSE], num_buckets=-3)


class TestRagged:
    @pytest.mark.parametrize(
        ("inputs", "expected"),
        [
            ([RAGGED, WORDS], [[b"a_X_x"], [b"b_X_y", b"c_X_y"]]),
            ([RAGGED, SPARSE], [[b"a_X_a", b"a_X_b"], [b"b_X_c", b"c_X_c"]]),
            ([SPARSE, WORDS], [[b"a_X_x", b"b_X_x"], [b"c_X_y"]]),
            (
                [RAGGED, NUMBERS],
                [[b"a_X_1", b"a_X_2"], [b"b_X_3", b"b_X_4", b"c_X_3", b"c_X_4"]],
            ),
            ([RAGGED], [[b"a"], [b"b", b"c"]]),
        ],
    )
    def test_strings(self, inputs, expected):
        assert tf.ragged.cross(inputs).to_list() == expected

    def test_hashes(self):
        crossed = tf.ragged.cross_hashed([RAGGED, WORDS], num_buckets=100)
        assert crossed.to_list() == [[92], [5, 60]]
        numbers = tf.constant([[1], [2]])
        crossed = tf.ragged.cross_hashed([RAGGED, numbers], num_buckets=1000, hash_key=3)
        assert crossed.to_list() == [[369], [874, 383]]

    @pytest.mark.parametrize(
        ("inputs", "error", "message"),
        [
            ([RAGGED, tf.constant([["q"]])], InvalidArgumentError, "same batch dimension size"),
            ([tf.ragged.constant([[["a"]]])], ValueError, "only supports inputs with rank=2"),
            ([tf.ragged.constant([[1.5], [2.0]])], ValueError, r"Unexpected dtype for inputs\[0\]"),
            (RAGGED, TypeError, "Inputs must be a list"),
        ],
    )
    def test_errors(self, inputs, error, message):
        with pytest.raises(error, match=message):
            tf.ragged.cross(inputs)
