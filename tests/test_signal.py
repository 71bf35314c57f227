"""tf.signal by its public names; numbers are TensorFlow's."""

import numpy as np
import pytest

import gradtape as tf

signal = tf.signal
WAVE = np.sin(np.arange(20, dtype=np.float32))


def close(got, wanted):
    np.testing.assert_allclose(got.numpy(), np.array(wanted), rtol=2e-5, atol=3e-6)


class TestFourier:
    def test_real_numbers_become_complex(self):
        assert signal.fft(np.ones(4, np.float32)).dtype is tf.complex64
        with pytest.raises(tf.errors.InvalidArgumentError, match="allowed values"):
            signal.fft(tf.ones(4))

    def test_lengths(self):
        x = np.random.default_rng(0).standard_normal((3, 5))
        close(signal.rfft(x, [8]), np.fft.rfft(x, 8))
        close(signal.rfft2d(x, [2, 4]), np.fft.rfft2(x, (2, 4)))
        close(signal.irfft(signal.rfft(x), [5]), x)
        with pytest.raises(ValueError, match="Dimension -3 must be >= 0"):
            signal.rfft(x, [-3])
        with pytest.raises(tf.errors.InvalidArgumentError, match="fft_length must have shape"):
            signal.rfft(x, [3, 4])

    def test_dtypes(self):
        assert signal.rfft(tf.ones(4, tf.float64)).dtype is tf.complex128
        with pytest.raises(ValueError, match=r"RFFT requires tf\.float32 or tf\.float64"):
            signal.rfft(tf.ones(4, tf.int32))

    def test_any_axes(self):
        x = np.random.default_rng(0).standard_normal((3, 4, 2)) + 0j
        close(signal.fftnd(x, [3, 4], axes=[0, 1]), np.fft.fftn(x, (3, 4), (0, 1)))
        close(signal.ifftnd(x, norm="ortho"), np.fft.ifftn(x, norm="ortho"))

    def test_shift(self):
        x = np.arange(15).reshape(3, 5)
        assert (signal.fftshift(x).numpy() == np.fft.fftshift(x)).all()
        assert (signal.ifftshift(x, 1).numpy() == np.fft.ifftshift(x, 1)).all()

    def test_gradient_of_a_cut_signal(self):
        x = tf.constant([1.0, 2.0, 3.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.abs(signal.rfft(x, [2])) ** 2)
        close(tape.gradient(y, x), [4.0, 8.0, 0.0])


class TestFrames:
    def test_frame(self):
        x = np.arange(7)
        assert signal.frame(x, 3, 2).numpy().tolist() == [[0, 1, 2], [2, 3, 4], [4, 5, 6]]
        padded = signal.frame(x, 4, 4, pad_end=True, pad_value=9).numpy()
        assert padded.tolist() == [[0, 1, 2, 3], [4, 5, 6, 9]]
        assert signal.frame(np.ones((7, 2)), 3, 2, axis=0).shape == (3, 3, 2)
        assert signal.frame(x, 9, 2).shape == (0, 9)

    def test_overlap_and_add(self):
        x = np.ones((3, 4), np.float32)
        assert signal.overlap_and_add(x, 2).numpy().tolist() == [1, 1, 2, 2, 2, 2, 1, 1]
        with pytest.raises(ValueError, match="frame_step must be an integer"):
            signal.overlap_and_add(x, 2.0)

    def test_stft(self):
        got = signal.stft(WAVE, 8, 6)
        close(
            tf.math.real(got),
            [
                [-0.920457, 1.40556, -1.07174, 0.108044, 0.0367341],
                [-0.661663, 1.01038, -0.770414, 0.0776662, 0.026406],
                [-0.350161, 0.534705, -0.407713, 0.0411021, 0.0139743],
            ],
        )
        close(
            tf.math.imag(got),
            [
                [0.0, -1.2774, 0.911929, -0.0886831, 0.0],
                [0.0, -1.63977, 1.17063, -0.113841, 0.0],
                [0.0, -1.87152, 1.33608, -0.12993, 0.0],
            ],
        )

    def test_inverse_stft(self):
        spectra = signal.stft(WAVE, 8, 2)
        back = signal.inverse_stft(spectra, 8, 2, window_fn=signal.inverse_stft_window_fn(2))
        np.testing.assert_allclose(back.numpy()[6:14], WAVE[6:14], atol=1e-6)


class TestCosines:
    @pytest.mark.parametrize(
        ("kind", "wanted"),
        [
            (1, [3.64266, -0.208946, -1.60965, -0.0054673]),
            (2, [3.78378, -0.312668, -2.27639, 0.0173182]),
            (3, [2.94878, -0.902663, -1.66922, -0.376904]),
            (4, [2.46473, -2.26878, -1.06114, 0.300297]),
        ],
    )
    def test_dct(self, kind, wanted):
        close(signal.dct(WAVE[:4], kind), wanted)

    @pytest.mark.parametrize(
        ("kind", "wanted"),
        [
            (2, [0.945944, -0.110545, -0.804824, 0.0061229]),
            (3, [1.04255, -0.319139, -0.590158, -0.133255]),
            (4, [0.871415, -0.802135, -0.37517, 0.106171]),
        ],
    )
    def test_orthogonal(self, kind, wanted):
        got = signal.dct(WAVE[:4], kind, norm="ortho")
        close(got, wanted)
        close(signal.idct(got, kind, norm="ortho"), WAVE[:4])

    def test_mdct(self):
        close(
            signal.mdct(WAVE[:12], 8),
            [[2.79325, 2.08243, -1.0581, 0.160589], [-2.61769, 1.77435, 1.09098, 0.213596]],
        )
        back = signal.inverse_mdct(signal.mdct(WAVE, 8))
        np.testing.assert_allclose(back.numpy()[4:16], WAVE[4:16], atol=1e-6)

    def test_bad_arguments(self):
        with pytest.raises(ValueError, match="Types I, II, III and IV"):
            signal.dct(WAVE, 5)
        with pytest.raises(ValueError, match="multiple of 4"):
            signal.mdct(WAVE, 6)


class TestWindowsAndMel:
    def test_windows(self):
        close(signal.hann_window(5), [0.0, 0.5, 1.0, 0.5, 0.0])
        close(signal.hamming_window(4), [0.08, 0.54, 1.0, 0.54])
        close(signal.kaiser_window(4), [5.28e-05, 0.518845, 0.518845, 5.28e-05])
        close(signal.vorbis_window(4), [0.228014, 0.973658, 0.973658, 0.228014])
        close(signal.kaiser_bessel_derived_window(4), [0.0072642, 0.999974, 0.999974, 0.0072642])
        with pytest.raises(ValueError, match="floating point type"):
            signal.hann_window(4, dtype=tf.int32)

    def test_mel(self):
        close(
            signal.linear_to_mel_weight_matrix(3, 5, 8000, 125.0, 3800.0),
            [
                [0.0, 0.0, 0.0],
                [0.295263, 0.704737, 0.0],
                [0.0, 0.204458, 0.795542],
                [0.0, 0.0, 0.461539],
                [0.0, 0.0, 0.0],
            ],
        )
        close(
            signal.mfccs_from_log_mel_spectrograms(WAVE[:4]),
            [1.33777, -0.110545, -0.804824, 0.0061229],
        )
        with pytest.raises(ValueError, match="Nyquist"):
            signal.linear_to_mel_weight_matrix(upper_edge_hertz=9000.0)
