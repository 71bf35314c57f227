"""tf.lookup: tables that are fixed, tables that change, vocabularies, files."""

import numpy as np
import pytest

import gradtape as tf

errors = tf.errors
lookup = tf.lookup
WHOLE_LINE, LINE_NUMBER = lookup.TextFileIndex.WHOLE_LINE, lookup.TextFileIndex.LINE_NUMBER


def int64(values):
    return tf.constant(values, tf.int64)


@pytest.fixture
def letters():
    pairs = lookup.KeyValueTensorInitializer(tf.constant(["a", "b", "c"]), int64([1, 2, 3]))
    return lookup.StaticHashTable(pairs, default_value=-1)


class TestStaticHashTable:
    def test_lookup(self, letters):
        found = letters.lookup(tf.constant([["a", "z"], ["c", "b"]]))
        assert found.dtype == tf.int64
        assert found.numpy().tolist() == [[1, -1], [3, 2]]
        assert letters[tf.constant("b")].numpy() == 2

    def test_lookup_of_composites(self, letters):
        sparse = letters.lookup(tf.sparse.from_dense(["a", "", "b"]))
        assert sparse.values.numpy().tolist() == [1, 2]
        assert sparse.indices.numpy().tolist() == [[0], [2]]
        ragged = letters.lookup(tf.ragged.constant([["a"], ["b", "q"]]))
        assert ragged.to_list() == [[1], [2, -1]]

    def test_facts(self, letters):
        assert (letters.size().numpy(), letters.size().dtype) == (3, tf.int64)
        assert (letters.key_dtype, letters.value_dtype) == (tf.string, tf.int64)
        assert letters.default_value.numpy() == -1
        keys, values = letters.export()
        assert dict(zip(keys.numpy(), values.numpy(), strict=True)) == {b"a": 1, b"b": 2, b"c": 3}

    def test_strings_as_values(self):
        pairs = lookup.KeyValueTensorInitializer([1, 2], ["x", "y"])
        found = lookup.StaticHashTable(pairs, "?").lookup(tf.constant([1, 5]))
        assert found.numpy().tolist() == [b"x", b"?"]

    def test_given_dtypes(self):
        pairs = lookup.KeyValueTensorInitializer(["a"], [1], tf.string, tf.int64)
        assert lookup.StaticHashTable(pairs, -1).lookup(tf.constant(["a"])).dtype == tf.int64

    def test_repeated_pairs(self):
        pairs = lookup.KeyValueTensorInitializer(["a", "a"], [1, 1])
        assert lookup.StaticHashTable(pairs, -1).size().numpy() == 1

    @pytest.mark.parametrize(
        ("keys", "values", "default", "error", "message"),
        [
            (["a", "a"], [1, 2], -1, errors.FailedPreconditionError, "different value for same"),
            (["a", "b"], [1], -1, errors.InvalidArgumentError, "Expected shape"),
            ([1.5], [1], -1, errors.NotFoundError, "(?i)dtype.*float"),
            (["a"], [1.0], "q", TypeError, "Cannot convert 'q'"),
        ],
    )
    def test_errors(self, keys, values, default, error, message):
        with pytest.raises(error, match=message):
            lookup.StaticHashTable(lookup.KeyValueTensorInitializer(keys, values), default)

    def test_keys_of_another_dtype(self, letters):
        with pytest.raises(TypeError, match="Dtype of argument `keys` must be"):
            letters.lookup(tf.constant([1]))

    @pytest.mark.beyond_tensorflow
    def test_python_keys(self, letters):
        assert letters["a"].numpy() == 1
        assert letters.lookup(["b", "x"]).numpy().tolist() == [2, -1]


class TestTextFiles:
    @pytest.fixture
    def names(self, tmp_path):
        path = tmp_path / "names.txt"
        path.write_text("emerson\nlake\npalmer\n")
        return str(path)

    @pytest.fixture
    def numbers(self, tmp_path):
        path = tmp_path / "numbers.txt"
        path.write_text("emerson 10\nlake 20\npalmer 30\n")
        return str(path)

    def test_line_numbers(self, names):
        lines = lookup.TextFileInitializer(names, tf.string, WHOLE_LINE, tf.int64, LINE_NUMBER)
        table = lookup.StaticHashTable(lines, -1)
        assert table.lookup(tf.constant(["lake", "x"])).numpy().tolist() == [1, -1]

    def test_size_and_offset(self, names):
        lines = lookup.TextFileInitializer(
            names, tf.string, WHOLE_LINE, tf.int64, LINE_NUMBER, vocab_size=2, value_index_offset=5
        )
        table = lookup.StaticHashTable(lines, -1)
        assert table.lookup(tf.constant(["lake", "palmer"])).numpy().tolist() == [6, -1]

    def test_columns(self, numbers):
        by_name = lookup.TextFileInitializer(numbers, tf.string, 0, tf.int64, 1, delimiter=" ")
        table = lookup.StaticHashTable(by_name, -1)
        assert table.lookup(tf.constant(["lake", "x"])).numpy().tolist() == [20, -1]
        by_number = lookup.TextFileInitializer(numbers, tf.int64, 1, tf.string, 0, delimiter=" ")
        table = lookup.StaticHashTable(by_number, "?")
        assert table.lookup(int64([10, 11])).numpy().tolist() == [b"emerson", b"?"]

    @pytest.mark.parametrize(
        ("key_index", "value_index", "options", "message"),
        [
            (0, 2, {"delimiter": " "}, "expected at least 3 got 2"),
            (0, 0, {"delimiter": " "}, "Field emerson in line 0 is not a valid int64"),
            (0, 1, {"delimiter": " ", "vocab_size": 9}, "expected 9 but got 3"),
        ],
    )
    def test_unfit_files(self, numbers, key_index, value_index, options, message):
        lines = lookup.TextFileInitializer(
            numbers, tf.string, key_index, tf.int64, value_index, **options
        )
        with pytest.raises(errors.InvalidArgumentError, match=message):
            lookup.StaticHashTable(lines, -1)

    def test_no_file(self, tmp_path):
        lines = lookup.TextFileInitializer(str(tmp_path / "none"), tf.string, 0, tf.int64, 1)
        with pytest.raises(errors.NotFoundError, match="No such file"):
            lookup.StaticHashTable(lines, -1)

    def test_line_numbers_are_int64(self, names):
        with pytest.raises(ValueError, match="`value_dtype` must be int64 for `value_index` -1"):
            lookup.TextFileInitializer(names, tf.string, WHOLE_LINE, tf.string, LINE_NUMBER)


class TestStaticVocabularyTable:
    def test_words(self):
        pairs = lookup.KeyValueTensorInitializer(tf.constant(["a", "b", "c"]), int64([0, 1, 2]))
        table = lookup.StaticVocabularyTable(pairs, num_oov_buckets=5)
        found = table.lookup(tf.constant(["a", "z", "y", "q", "b"]))
        assert found.numpy().tolist() == [0, 5, 3, 6, 1]
        assert table.size().numpy() == 8

    def test_integers(self):
        pairs = lookup.KeyValueTensorInitializer(int64([5, 6]), int64([0, 1]))
        table = lookup.StaticVocabularyTable(pairs, num_oov_buckets=3)
        assert table.lookup(int64([5, 7, 8, 9])).numpy().tolist() == [0, 3, 3, 4]

    def test_nothing_known(self):
        table = lookup.StaticVocabularyTable(None, 3)
        assert table.lookup(tf.constant(["a", "b"])).numpy().tolist() == [0, 1]

    def test_errors(self):
        with pytest.raises(ValueError, match="`num_oov_buckets` must be > 0"):
            lookup.StaticVocabularyTable(lookup.KeyValueTensorInitializer(["a"], int64([0])), 0)
        with pytest.raises(TypeError, match="Invalid `value_dtype`"):
            lookup.StaticVocabularyTable(lookup.KeyValueTensorInitializer(["a"], [0]), 1)


class TestMutableHashTable:
    def test_insert_remove_export(self):
        table = lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        table.insert(tf.constant(["a", "b"]), int64([1, 2]))
        assert table.lookup(tf.constant(["a", "c"])).numpy().tolist() == [1, -1]
        table.remove(tf.constant(["a", "c"]))
        assert table.size().numpy() == 1
        keys, values = table.export()
        assert (keys.numpy().tolist(), values.numpy().tolist()) == ([b"b"], [2])
        table.insert(["b"], [7])
        assert table["b"].numpy() == 7

    def test_defaults_of_the_moment(self):
        table = lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        table.insert(tf.constant(["k"]), int64([7]))
        keys = tf.constant(["a", "k"])
        assert table.lookup(keys, int64([8, 9])).numpy().tolist() == [8, 7]

    def test_vectors(self):
        table = lookup.experimental.MutableHashTable(tf.int64, tf.float32, [0.0, 0.0])
        table.insert(int64([1]), [[1.0, 2.0]])
        assert table.lookup(int64([[1, 2]])).numpy().tolist() == [[[1.0, 2.0], [0.0, 0.0]]]

    def test_what_is_inserted_is_copied(self):
        values = np.array([[1.0, 2.0]], np.float32)
        table = lookup.experimental.MutableHashTable(tf.int64, tf.float32, [0.0, 0.0])
        table.insert(int64([1]), values)
        values[:] = 9.0
        assert table.lookup(int64([1])).numpy().tolist() == [[1.0, 2.0]]

    def test_wrong_number_of_values(self):
        table = lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        with pytest.raises(errors.InvalidArgumentError, match=r"Expected shape \[1\] for value"):
            table.insert(tf.constant(["a"]), int64([1, 2]))


class TestDenseHashTable:
    @pytest.fixture
    def table(self):
        table = lookup.experimental.DenseHashTable(
            tf.int64, tf.float32, default_value=-1.0, empty_key=0, deleted_key=-1
        )
        table.insert(int64([3, 4]), [1.0, 2.0])
        return table

    def test_insert_and_erase(self, table):
        assert table.lookup(int64([3, 5])).numpy().tolist() == [1.0, -1.0]
        table.erase(int64([3]))
        assert table.size().numpy() == 1
        table.insert_or_assign(int64([4]), [5.0])
        assert table[int64(4)].numpy() == 5.0

    def test_reserved_keys(self, table):
        for act, word in (
            (lambda: table.insert(int64([0]), [1.0]), "empty_key"),
            (lambda: table.lookup(int64([0])), "empty_key"),
            (lambda: table.remove(int64([-1])), "deleted_key"),
        ):
            with pytest.raises(errors.InvalidArgumentError, match=f"Using the {word}"):
                act()


def test_gradients_pass_by():
    table = lookup.experimental.MutableHashTable(tf.int64, tf.float32, 0.0)
    table.insert(int64([1]), [3.0])
    factor = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        product = table.lookup(int64([1])) * factor
    assert tape.gradient(product, factor).numpy() == 3.0
