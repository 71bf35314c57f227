"""Connectionist temporal classification: losses, gradients, decoders."""

import numpy as np
import pytest

import gradtape as tf

InvalidArgumentError = tf.errors.InvalidArgumentError
FailedPreconditionError = tf.errors.FailedPreconditionError

LOGITS = tf.constant(np.random.RandomState(0).randn(5, 3, 4).astype(np.float32))
LABELS = tf.constant([[1, 2, 2], [3, 0, 0], [1, 0, 0]])
SPARSE = tf.sparse.from_dense(LABELS)


def loss_and_gradient(labels=LABELS, lengths=(3, 1, 1), frames=(5, 4, 0), logits=LOGITS, **options):
    lengths = None if lengths is None else list(lengths)
    with tf.GradientTape() as tape:
        tape.watch(logits)
        loss = tf.nn.ctc_loss(labels, logits, lengths, list(frames), **options)
        finite = tf.where(tf.math.is_finite(loss), loss, tf.zeros_like(loss))
        total = tf.reduce_sum(finite * tf.cast([1.0, 2.0, 3.0], loss.dtype))
    return loss, tape.gradient(total, logits)


def close(got, want, atol=2e-6):
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=atol)


class TestLoss:
    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            ({}, [6.3116045, 1.6266657, 706.8936]),
            ({"blank_index": 0}, [6.3116045, 1.6266657, 706.8936]),
            ({"frames": (9, 4, 2)}, [6.3116045, 1.6266657, 2.0808728]),
            ({"frames": (-1, 4, 2)}, [706.8936, 1.6266657, 2.0808728]),
            ({"lengths": (3, 0, 1), "frames": (3, 4, 5)}, [708.54193, 4.9471354, 6.1162577]),
            ({"lengths": (0, 0, 0)}, [6.0099845, 4.9471354, 0.0]),
            ({"unique": tf.nn.ctc_unique_labels(LABELS)}, [6.3116045, 1.6266657, 706.8936]),
            (
                {
                    "blank_index": -1,
                    "labels": tf.constant([[1, 2, 2], [0, 0, 0], [1, 1, 0]]),
                    "lengths": (3, 1, 2),
                    "frames": (5, 4, 2),
                },
                [8.301859, 1.4841344, 707.90173],
            ),
            (
                {"labels": tf.constant([[1], [2], [3]], tf.int64), "lengths": (1, 1, 1),
                 "frames": (5, 4, 2)},
                [3.6938653, 4.3082695, 2.6090262],
            ),
            (
                {"labels": SPARSE, "lengths": None, "frames": (5, 4, 2), "blank_index": 0},
                [6.3116045, 1.6266656, 2.080873],
            ),
            (
                {"labels": SPARSE, "lengths": None, "frames": (3, 4, 2), "blank_index": 0},
                [np.inf, 1.6266656, 2.080873],
            ),
        ],
    )  # fmt: skip
    def test_values(self, options, expected):
        loss, _ = loss_and_gradient(**options)
        assert loss.dtype == tf.float32
        close(loss, expected)

    def test_frames_second(self):
        loss, gradient = loss_and_gradient(
            logits=tf.transpose(LOGITS, (1, 0, 2)), frames=(5, 4, 2), logits_time_major=False
        )
        close(loss, [6.3116045, 1.6266657, 2.0808728])
        close(gradient[0, 0], [0.1426747, -0.7647607, 0.1372341, 0.484852])

    def test_float16(self):
        loss, gradient = loss_and_gradient(logits=tf.cast(LOGITS, tf.float16), frames=(5, 4, 2))
        assert loss.dtype == gradient.dtype == tf.float16
        np.testing.assert_allclose(loss, [6.312, 1.627, 2.08], rtol=2e-3)

    @pytest.mark.beyond_tensorflow
    def test_no_labels_at_all(self):
        """TensorFlow counts the only alignment twice."""
        loss, _ = loss_and_gradient(tf.zeros((3, 0), tf.int32), (0, 0, 0))
        close(loss, [6.0099845, 4.9471354, 0.0])

    @pytest.mark.beyond_tensorflow
    def test_float64(self):
        loss, _ = loss_and_gradient(logits=tf.cast(LOGITS, tf.float64), frames=(5, 4, 2))
        assert loss.dtype == tf.float64
        close(loss, [6.3116045, 1.6266658, 2.0808728])


class TestGradient:
    def test_by_frames(self):
        _, gradient = loss_and_gradient()
        close(
            gradient[:, 0],
            [
                [0.1426747, -0.7647607, 0.1372341, 0.484852],
                [0.267171, -0.0173259, -0.4741274, 0.2242824],
                [0.1523309, 0.0198146, -0.2425038, 0.0703583],
                [-0.4286755, 0.4074354, -0.0692462, 0.0904864],
                [0.0190033, 0.2798755, -0.8086631, 0.5097842],
            ],
        )
        close(gradient[3, 1], [0.0471038, 0.0619146, 0.0465024, -0.1555209])
        assert not np.any(gradient[4, 1])
        assert not np.any(gradient[:, 2])

    def test_too_few_frames(self):
        _, gradient = loss_and_gradient(lengths=(3, 0, 1), frames=(3, 4, 5))
        # TensorFlow works in float32 here, among numbers around 700.
        close(gradient[0, 0], [-0.3900308, -0.0044701, -0.0903784, 0.484852], 5e-5)
        close(gradient[2, 0], [-0.0835366, 0.0147295, -0.0015741, 0.0703583], 5e-5)
        close(gradient[0, 1], [-0.7425115, 0.0731152, 0.5024028, 0.1669938])

    def test_infinite_loss_of_sparse_labels(self):
        _, gradient = loss_and_gradient(SPARSE, None, (3, 4, 2), blank_index=0)
        assert not np.any(gradient[:, 0])
        close(gradient[0, 1], [-0.7259066, 0.0731152, 0.5024028, 0.150389])

    @pytest.mark.beyond_tensorflow
    def test_second_order(self):
        """TensorFlow's is NaN."""

        def loss(x):
            return tf.reduce_sum(tf.nn.ctc_loss(LABELS, x, [3, 1, 1], [5, 4, 2]))

        x = tf.cast(LOGITS, tf.float64)
        direction = tf.constant(np.random.RandomState(1).randn(5, 3, 4))

        def slope(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = loss(x)
            return tape.gradient(y, x)

        with tf.GradientTape() as tape:
            tape.watch(x)
            along = tf.reduce_sum(slope(x) * direction)
        difference = (slope(x + 1e-5 * direction) - slope(x - 1e-5 * direction)) / 2e-5
        np.testing.assert_allclose(tape.gradient(along, x), difference, atol=1e-8)

    @pytest.mark.beyond_tensorflow
    def test_of_variables_and_maps(self):
        many = tf.stack([LOGITS, 2 * LOGITS])
        losses = tf.vectorized_map(lambda x: tf.nn.ctc_loss(LABELS, x, [3, 1, 1], [5, 4, 2]), many)
        close(losses[1], tf.nn.ctc_loss(LABELS, tf.Variable(many[1]), [3, 1, 1], [5, 4, 2]))


class TestLossErrors:
    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"labels": SPARSE, "lengths": None}, ValueError, "`blank_index` must be provided"),
            (
                {"labels": SPARSE, "lengths": None, "blank_index": 0},
                InvalidArgumentError,
                "Not enough time for target transition sequence (required: 1, available: 0)",
            ),
            (
                {"labels": SPARSE, "lengths": None, "blank_index": 0, "frames": (5, 4, 6)},
                InvalidArgumentError,
                "sequence_length(2) <= 5",
            ),
            (
                {"labels": SPARSE, "lengths": None, "blank_index": 0, "frames": (5, -1, 2)},
                InvalidArgumentError,
                "seq_len(1) < 0",
            ),
            (
                {
                    "labels": tf.sparse.from_dense(tf.constant([[1], [0], [1]])),
                    "lengths": None, "blank_index": 0, "frames": (5, 4, 2),
                },
                InvalidArgumentError,
                "Labels length is zero in batch 1",
            ),
            (
                {"labels": tf.cast(SPARSE, tf.int64), "lengths": None, "blank_index": 0},
                ValueError,
                "requested dtype int32",
            ),
            ({"lengths": None}, ValueError, "unsupported type"),
            ({"frames": (5, 4)}, InvalidArgumentError, ""),
            ({"labels": LABELS[:2]}, InvalidArgumentError, ""),
        ],
    )  # fmt: skip
    def test_as_tensorflow(self, options, error, message):
        with pytest.raises(error) as raised:
            loss_and_gradient(**options)
        assert message in str(raised.value)

    @pytest.mark.beyond_tensorflow
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"labels": tf.constant([[1, 2, 5], [3, 0, 0], [1, 0, 0]])}, "labels[0, 2] = 5"),
            ({"labels": tf.constant([[1, -2, 2], [3, 0, 0], [1, 0, 0]])}, "labels[0, 1] = -2"),
            ({"lengths": (3, 2, 1)}, "labels[1, 1] = 0"),
            ({"lengths": (4, 1, 1)}, "label_length must lie in [0, 3]"),
            ({"blank_index": 4}, "between -4 and 3 but was 4"),
            ({"logits": LOGITS[0]}, "inputs is not a 3-Tensor"),
        ],
    )
    def test_where_tensorflow_computes_something(self, options, message):
        with pytest.raises(InvalidArgumentError) as raised:
            loss_and_gradient(**options)
        assert message in str(raised.value)


def test_unique_labels():
    unique, places = tf.nn.ctc_unique_labels(tf.constant([[1, 2, 2], [3, 0, 0], [1, 0, 0]]))
    assert unique.dtype == tf.int64
    assert places.dtype == tf.int32
    assert unique.numpy().tolist() == [[1, 2, 0], [3, 0, 0], [1, 0, 0]]
    assert places.numpy().tolist() == [[0, 1, 1], [0, 1, 1], [0, 1, 1]]


def test_collapse_repeated():
    labels = tf.constant([[1, 1, 2, 2, 1], [1, 0, 1, 1, 0], [3, 3, 3, 3, 3]])
    collapsed, lengths = tf.nn.collapse_repeated(labels, [5, 3, 5])
    assert collapsed.numpy().tolist() == [[1, 2, 1], [1, 0, 1], [3, 0, 0]]
    assert lengths.numpy().tolist() == [3, 3, 1]
    collapsed, lengths = tf.nn.collapse_repeated(labels[:2], [2, 0])
    assert collapsed.numpy().tolist() == [[1], [0]]
    assert lengths.numpy().tolist() == [1, 0]


def sequences(sparse):
    return [[x for x in row if x >= 0] for row in tf.sparse.to_dense(sparse, -1).numpy().tolist()]


class TestGreedyDecoder:
    def test_merging(self):
        (decoded,), score = tf.nn.ctc_greedy_decoder(LOGITS, [5, 4, 0])
        assert sequences(decoded) == [[0], [0], []]
        assert decoded.values.dtype == tf.int64
        assert decoded.dense_shape.numpy().tolist() == [3, 1]
        close(score, [[-6.8888783], [-6.845192], [0.0]])

    def test_not_merging_with_another_blank(self):
        (decoded,), score = tf.nn.ctc_greedy_decoder(LOGITS, [5, 4, 3], False, 0)
        assert sequences(decoded) == [[3, 3], [3], [3, 2, 3]]
        close(score, [[-6.8888783], [-6.845192], [-2.4750586]])

    def test_float64_and_no_gradient(self):
        logits = tf.cast(LOGITS, tf.float64)
        with tf.GradientTape() as tape:
            tape.watch(logits)
            _, score = tf.nn.ctc_greedy_decoder(logits, [5, 4, 3])
        assert score.dtype == tf.float64
        assert tape.gradient(score, logits) is None

    @pytest.mark.parametrize(
        ("arguments", "error", "message"),
        [
            ((LOGITS, [5, 4, 7]), FailedPreconditionError, "sequence_length(2) <= 5"),
            ((LOGITS, [5, 4]), FailedPreconditionError, "len(sequence_length) != batch_size"),
            ((LOGITS[0], [5]), InvalidArgumentError, "inputs is not a 3-Tensor"),
            (
                (LOGITS, [5, 4, 3], True, -5),
                InvalidArgumentError,
                "blank_index expected to be between -4 and 3 but was -5",
            ),
        ],
    )
    def test_errors(self, arguments, error, message):
        with pytest.raises(error) as raised:
            tf.nn.ctc_greedy_decoder(*arguments)
        assert message in str(raised.value)


class TestBeamSearchDecoder:
    def test_narrow_beam(self):
        decoded, scores = tf.nn.ctc_beam_search_decoder(3 * LOGITS, [5, 4, 5], 2, 2)
        assert sequences(decoded[0]) == [[0, 1], [0], [2, 1]]
        assert sequences(decoded[1]) == [[0], [0, 1], [2, 0]]
        expected = [[-1.2367065, -1.4391142], [-0.6968082, -0.9170818], [-1.1097457, -1.8176098]]
        close(scores, expected)

    def test_wide_beam(self):
        decoded, scores = tf.nn.ctc_beam_search_decoder(LOGITS, [5, 4, 2], top_paths=3)
        assert sequences(decoded[0]) == [[0, 1], [0], [2]]
        assert sequences(decoded[1]) == [[2, 0, 1], [0, 1], [1]]
        assert sequences(decoded[2]) == [[0], [2, 0], [1, 2]]
        close(scores[0], [-1.853761, -2.3549633, -2.3774095])
        close(scores[2], [-1.0397304, -1.1668991, -2.3639593])

    def test_beam_of_four(self):
        decoded, scores = tf.nn.ctc_beam_search_decoder(LOGITS, [5, 4, 2], 4, 2)
        assert sequences(decoded[1]) == [[0], [0, 1], [1]]
        close(scores[:, 0], [-1.8791963, -1.4926742, -1.0397304])

    def test_no_frames_and_only_blanks(self):
        decoded, scores = tf.nn.ctc_beam_search_decoder(LOGITS, [5, 4, 0])
        assert sequences(decoded[0]) == [[0, 1], [0], []]
        close(scores, [[-1.853761], [-1.4841346], [0.0]])
        decoded, scores = tf.nn.ctc_beam_search_decoder(LOGITS[:, :, :1], [5, 4, 2])
        assert decoded[0].dense_shape.numpy().tolist() == [3, 0]
        close(scores, [[0.0], [0.0], [0.0]])

    def test_agrees_with_the_loss(self):
        """A beam that holds everything finds exact probabilities."""
        decoded, scores = tf.nn.ctc_beam_search_decoder(LOGITS, [5, 5, 5], 1000)
        (labels,) = [tf.sparse.to_dense(each) for each in decoded]
        lengths = [len(row) for row in sequences(decoded[0])]
        loss = tf.nn.ctc_loss(labels, LOGITS, lengths, [5, 5, 5], blank_index=-1)
        close(-scores[:, 0], loss)

    @pytest.mark.parametrize(
        ("arguments", "error", "message"),
        [
            ((LOGITS, [5, 4, 0], 100, 3), InvalidArgumentError, "Less leaves in the beam search"),
            ((LOGITS, [5, 4, 3], 1, 2), InvalidArgumentError, "more paths than the beam width"),
            ((LOGITS, [5, 4, 3], 0), InvalidArgumentError, "'beam_width' of 0"),
            ((LOGITS, [5, 4, 9]), FailedPreconditionError, "sequence_length(2) <= 5"),
            ((LOGITS[0], [5]), InvalidArgumentError, "inputs is not a 3-Tensor"),
        ],
    )
    def test_errors(self, arguments, error, message):
        with pytest.raises(error) as raised:
            tf.nn.ctc_beam_search_decoder(*arguments)
        assert message in str(raised.value)
