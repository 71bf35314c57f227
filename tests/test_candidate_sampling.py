"""Samplers of classes, seed by seed as TensorFlow's, and the losses that use them."""

import numpy as np
import pytest

import gradtape as tf

InvalidArgumentError = tf.errors.InvalidArgumentError

TRUE = tf.constant([[0, 3], [1, 2]], tf.int64)
WEIGHTS = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


@pytest.fixture(autouse=True)
def unpredictable_afterwards():
    yield
    tf.random.set_seed(None)


def int64(values):
    return tf.constant(values, tf.int64)


def close(got, want):
    np.testing.assert_allclose(got, want, rtol=2e-6, atol=1e-6)


def fixed(unique, **options):
    return tf.random.fixed_unigram_candidate_sampler(TRUE, 2, 4, unique, seed=1, **options)


class TestSamplesOfSeeds:
    @pytest.mark.parametrize(
        ("sampler", "unique", "first", "second"),
        [
            (tf.random.uniform_candidate_sampler, True, [4, 3, 2, 5], [5, 0, 1, 4]),
            (tf.random.uniform_candidate_sampler, False, [4, 3, 2, 5], [5, 0, 0, 5]),
            (tf.random.log_uniform_candidate_sampler, True, [0, 1, 3, 5], [0, 2, 1, 5]),
            (tf.random.log_uniform_candidate_sampler, False, [0, 1, 0, 0], [0, 0, 0, 0]),
        ],
    )
    def test_two_calls(self, sampler, unique, first, second):
        tf.random.set_seed(5)
        calls = [sampler(TRUE, 2, 4, unique, 6, seed=1) for _ in range(2)]
        assert [call.sampled_candidates.numpy().tolist() for call in calls] == [first, second]
        assert calls[0].sampled_candidates.dtype == tf.int64

    @pytest.mark.parametrize(("unique", "expected"), [(True, [0, 1, 5, 4]), (False, [0, 1, 5, 1])])
    def test_learned(self, unique, expected):
        tf.random.set_seed(5)
        results = tf.random.learned_unigram_candidate_sampler(TRUE, 2, 4, unique, 6, seed=1)
        assert results.sampled_candidates.numpy().tolist() == expected

    @pytest.mark.parametrize(("unique", "expected"), [(True, [1, 5, 2, 4]), (False, [1, 1, 5, 2])])
    def test_fixed(self, unique, expected):
        tf.random.set_seed(5)
        results = fixed(unique, range_max=6, unigrams=WEIGHTS)
        assert results.sampled_candidates.numpy().tolist() == expected

    @pytest.mark.parametrize(("unique", "expected"), [(True, [7, 5, 4, 3]), (False, [7, 5, 7, 5])])
    def test_fixed_with_distortion_and_reserved_ids(self, unique, expected):
        tf.random.set_seed(5)
        results = fixed(unique, range_max=8, unigrams=WEIGHTS, distortion=0.5, num_reserved_ids=2)
        assert results.sampled_candidates.numpy().tolist() == expected


class TestExpectedCounts:
    def test_uniform(self):
        tf.random.set_seed(5)
        first, second = [
            tf.random.uniform_candidate_sampler(TRUE, 2, 4, True, 6, seed=1) for _ in range(2)
        ]
        close(first.true_expected_count, [[0.6666667] * 2] * 2)
        close(second.true_expected_count, [[0.6651021] * 2] * 2)
        close(second.sampled_expected_count, [0.6651021] * 4)

    def test_log_uniform(self):
        tf.random.set_seed(5)
        unique = tf.random.log_uniform_candidate_sampler(TRUE, 2, 4, True, 6, seed=1)
        close(unique.true_expected_count, [[0.9991292, 0.8575513], [0.9762111, 0.9226708]])
        close(unique.sampled_expected_count, [0.9991292, 0.9762111, 0.8575513, 0.7330003])
        plain = tf.random.log_uniform_candidate_sampler(TRUE, 2, 4, False, 6, seed=1)
        close(plain.true_expected_count, [[1.4248288, 0.4586924], [0.8334714, 0.5913574]])

    def test_fixed(self):
        tf.random.set_seed(5)
        results = fixed(False, range_max=8, unigrams=WEIGHTS, distortion=0.5, num_reserved_ids=2)
        close(results.true_expected_count, [[0.0, 0.522244], [0.0, 0.3692823]])

    def test_learned(self):
        """Classes that were true are more probable in the next call."""
        tf.random.set_seed(5)
        for expected in (4 / 6, 4 * 2 / 10):
            results = tf.nn.learned_unigram_candidate_sampler(TRUE, 2, 4, False, 6, seed=1)
            close(results.true_expected_count, [[expected] * 2] * 2)
        tf.random.set_seed(5)
        results = tf.nn.learned_unigram_candidate_sampler(TRUE, 2, 4, False, 6, seed=1)
        close(results.true_expected_count, [[4 / 6] * 2] * 2)

    def test_all(self):
        results = tf.nn.all_candidate_sampler(TRUE, 2, 6, True)
        assert results.sampled_candidates.numpy().tolist() == [0, 1, 2, 3, 4, 5]
        close(results.true_expected_count, np.ones((2, 2)))
        close(results.sampled_expected_count, np.ones(6))


def test_weights_from_a_file(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("".join(f"word{i},{weight}\n" for i, weight in enumerate(WEIGHTS)))
    tf.random.set_seed(5)
    results = fixed(False, range_max=6, vocab_file=str(path))
    assert results.sampled_candidates.numpy().tolist() == [1, 1, 5, 2]
    every_second = tf.random.fixed_unigram_candidate_sampler(
        int64([[0, 1, 2]]), 3, 4, False, 3, vocab_file=str(path), num_shards=2, shard=1
    )
    close(every_second.true_expected_count, [[4 * 2 / 12, 4 * 4 / 12, 4 * 6 / 12]])


def test_frequencies_of_many_samples():
    tf.random.set_seed(7)
    results = tf.random.fixed_unigram_candidate_sampler(
        int64([[0]]), 1, 60000, False, 4, unigrams=[1, 2, 3, 4]
    )
    shares = np.bincount(results.sampled_candidates) / 60000
    np.testing.assert_allclose(shares, [0.1, 0.2, 0.3, 0.4], atol=0.01)


class TestErrors:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ((TRUE, 2, 7, True, 6), "Sampler's range is too small"),
            ((TRUE, 3, 4, True, 6), "must have num_true columns, expected: 2 was: 3"),
            ((tf.constant([[9, 9]], tf.int64), 2, 4, True, 6), "out of range [0, 6), received 9"),
            ((tf.constant([[1, 2]]), 2, 4, True, 6), "expected to be a int64 tensor"),
            ((TRUE, 2, 0, True, 6), "'num_sampled' of 0 must be at least minimum 1"),
            ((TRUE, 2, 3, True, 0), "'range_max' of 0 must be at least minimum 1"),
            (([1, 2], 2, 3, True, 6), "true_classes must be a matrix"),
        ],
    )
    def test_uniform(self, arguments, message):
        with pytest.raises(InvalidArgumentError) as raised:
            tf.random.uniform_candidate_sampler(*arguments)
        assert message in str(raised.value)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"range_max": 7, "unigrams": WEIGHTS}, "range is 7 must be equal to weights size  6"),
            ({"range_max": 6}, "Must provide either vocab_file or unigrams."),
        ],
    )
    def test_fixed(self, options, message):
        with pytest.raises(InvalidArgumentError) as raised:
            fixed(True, **options)
        assert message in str(raised.value)


class TestAccidentalHits:
    def test_last_of_equal_samples(self):
        hits = tf.nn.compute_accidental_hits(TRUE, tf.constant([3, 0, 2, 2, 9], tf.int64), 2)
        assert hits.indices.numpy().tolist() == [0, 0, 1]
        assert hits.ids.numpy().tolist() == [1, 0, 3]
        assert hits.weights.numpy().tolist() == [-np.finfo(np.float32).max] * 3
        assert (hits.indices.dtype, hits.ids.dtype) == (tf.int32, tf.int64)

    def test_none(self):
        hits = tf.nn.compute_accidental_hits(TRUE, tf.constant([7], tf.int64), 2)
        assert [each.shape[0] for each in hits] == [0, 0, 0]

    def test_error(self):
        with pytest.raises(InvalidArgumentError, match=r"batch_size \* num_true matrix"):
            tf.nn.compute_accidental_hits(TRUE, tf.constant([7], tf.int64), 1)


class TestSampledLosses:
    random = np.random.RandomState(0)
    random.randn(5, 3, 4)
    weights = tf.constant(random.randn(6, 3).astype(np.float32))
    biases = tf.constant(random.randn(6).astype(np.float32))
    inputs = tf.constant(random.randn(2, 3).astype(np.float32))
    sampled = (
        tf.constant([3, 0, 2, 4], tf.int64),
        tf.constant([[0.1, 0.2], [0.3, 0.4]]),
        tf.constant([0.5, 0.6, 0.7, 0.8]),
    )

    @pytest.mark.parametrize(
        ("function", "without_hits", "loss", "by_biases", "by_inputs"),
        [
            (
                "nce_loss", True, [3.8391838, 5.9483337],
                [0.3050323, 0.2225411, -0.2719444, 1.203136, 1.5295426, 0.0],
                [[0.7933772, -0.3498281, 0.4136556], [0.8659146, -0.8577374, 0.2662131]],
            ),
            (
                "nce_loss", False, [7.1679497, 6.0792055],
                [0.3850792, 0.2225411, -0.1492749, 2.1641805, 1.5295426, 0.0],
                [[0.7894707, 0.3220792, 0.4725241], [0.6659389, -0.8009681, 0.1549152]],
            ),
            (
                "sampled_softmax_loss", True, [2.4214816, 2.9706607],
                [-0.4366694, -0.3327429, -0.4837759, 0.6294779, 0.6237105, 0.0],
                [[0.3839853, 0.483723, 0.4700195], [2.0160713, -0.9208649, 0.7898121]],
            ),
            (
                "sampled_softmax_loss", False, [2.7489038, 2.979601],
                [-0.4384601, -0.3342316, -0.4751573, 0.6367881, 0.6110609, 0.0],
                [[0.3771923, 0.4995751, 0.4693868], [1.9985551, -0.9113988, 0.7805328]],
            ),
        ],
    )  # fmt: skip
    def test_given_samples(self, function, without_hits, loss, by_biases, by_inputs):
        sources = [self.weights, self.biases, self.inputs]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            got = getattr(tf.nn, function)(
                self.weights, self.biases, TRUE, self.inputs, 4, 6, num_true=2,
                sampled_values=self.sampled, remove_accidental_hits=without_hits,
            )  # fmt: skip
        close(got, loss)
        gradients = tape.gradient(got, sources)
        assert [isinstance(g, tf.IndexedSlices) for g in gradients] == [True, True, False]
        close(tf.convert_to_tensor(gradients[1]), by_biases)
        close(gradients[2], by_inputs)

    def test_drawn_samples(self):
        tf.random.set_seed(3)
        args = (tf.constant([[1], [2]]), self.inputs, 4, 6)
        close(
            tf.nn.sampled_softmax_loss(self.weights, self.biases, *args, seed=2),
            [5.5105743, 3.2324653],
        )
        parts = [self.weights[::2], self.weights[1::2]]
        close(tf.nn.nce_loss(parts, self.biases, *args), [2.984188, 2.9496503])

    def test_labels_must_be_a_matrix(self):
        with pytest.raises(InvalidArgumentError, match="true_classes must be a matrix"):
            tf.nn.sampled_softmax_loss(
                self.weights, self.biases, tf.constant([1, 2]), self.inputs, 4, 6
            )
