"""tf.io, tf.audio and tensors as bytes; the bytes are TensorFlow's."""

import sys
import zlib

import numpy as np
import pytest

import gradtape as tf

PIXELS = (np.arange(60) * 37 % 251).astype(np.uint8).reshape(5, 4, 3)


class TestTensors:
    @pytest.mark.parametrize(
        ("value", "wanted"),
        [
            (
                np.arange(3, dtype=np.int16),
                b'\x08\x05\x12\x04\x12\x02\x08\x03"\x06\0\0\x01\0\x02\0',
            ),
            (np.float32(2.5), b'\x08\x01\x12\x00"\x04\0\0 @'),
            (np.array([b"a", b"bc"], object), b"\x08\x07\x12\x04\x12\x02\x08\x02B\x01aB\x02bc"),
            (np.zeros((2, 0), np.float32), b"\x08\x01\x12\x06\x12\x02\x08\x02\x12\x00"),
        ],
    )
    def test_serialized(self, value, wanted):
        tensor = tf.convert_to_tensor(value)
        assert tf.io.serialize_tensor(tensor).numpy() == wanted
        back = tf.io.parse_tensor(wanted, tensor.dtype)
        assert back.dtype is tensor.dtype
        np.testing.assert_array_equal(back.numpy(), value)

    def test_values_written_one_by_one(self):
        message = b"\x08\x03\x12\x08\x12\x02\x08\x02\x12\x02\x08\x03:\x01\x01"
        assert tf.io.parse_tensor(message, tf.int32).numpy().tolist() == [[1, 1, 1], [1, 1, 1]]

    def test_protos(self):
        proto = tf.make_tensor_proto([1, 2])
        assert (
            proto.SerializeToString()
            == b'\x08\x03\x12\x04\x12\x02\x08\x02"\x08\x01\0\0\0\x02\0\0\0'
        )
        assert tf.make_ndarray(proto).tolist() == [1, 2]
        assert tf.make_ndarray(tf.make_tensor_proto(1.0, shape=[2])).tolist() == [1, 1]

    def test_bad_bytes(self):
        with pytest.raises(tf.errors.InvalidArgumentError, match="base64: enp6"):
            tf.io.parse_tensor(b"zzz", tf.float32)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Type mismatch"):
            tf.io.parse_tensor(tf.io.serialize_tensor([1]), tf.float32)


class TestFiles:
    def test_read_and_write(self, tmp_path):
        path = str(tmp_path / "new" / "file")
        tf.io.write_file(path, b"one")
        assert tf.io.read_file(path).numpy() == b"one"
        assert tf.io.matching_files(str(tmp_path / "*" / "f*")).numpy().tolist() == [path.encode()]
        with pytest.raises(tf.errors.NotFoundError, match="/nowhere; No such file"):
            tf.io.read_file("/nowhere")

    def test_gfile(self, tmp_path):
        gfile = tf.io.gfile
        path, copied = gfile.join(str(tmp_path), "a"), str(tmp_path / "b")
        with gfile.GFile(path, "w") as file:
            file.write("one\ntwo\n")
        with gfile.GFile(path) as file:
            assert list(file) == ["one\n", "two\n"]
        assert gfile.stat(path).length == 8
        gfile.copy(path, copied)
        with pytest.raises(tf.errors.AlreadyExistsError, match="file already exists"):
            gfile.copy(path, copied)
        gfile.rename(copied, str(tmp_path / "c"))
        assert sorted(gfile.listdir(str(tmp_path))) == ["a", "c"]
        assert gfile.glob(str(tmp_path / "*")) == [path, str(tmp_path / "c")]
        gfile.remove(path)
        assert not gfile.exists(path)
        gfile.makedirs(str(tmp_path / "d" / "e"))
        assert [names for _, names, _ in gfile.walk(str(tmp_path))] == [["d"], ["e"], []]
        gfile.rmtree(str(tmp_path / "d"))
        assert not gfile.isdir(str(tmp_path / "d"))
        with pytest.raises(tf.errors.NotFoundError, match="Could not find directory"):
            gfile.listdir("/nowhere")


class TestDecoding:
    def test_raw(self):
        got = tf.io.decode_raw([b"abcd", b"efgh"], tf.uint16)
        assert got.numpy().tolist() == [[25185, 25699], [26213, 26727]]
        padded = tf.io.decode_raw([b"abcd", b"e"], tf.uint8, fixed_length=3)
        assert padded.numpy().tolist() == [[97, 98, 99], [101, 0, 0]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="not a multiple of 2"):
            tf.io.decode_raw([b"abc"], tf.int16)

    def test_base64(self):
        assert tf.io.encode_base64("hello??>").numpy() == b"aGVsbG8_Pz4"
        assert tf.io.encode_base64("hell", pad=True).numpy() == b"aGVsbA=="
        assert tf.io.decode_base64("aGVsbG8").numpy() == b"hello"
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid character"):
            tf.io.decode_base64("a*")

    def test_csv(self):
        records = ['1,"a,""b",3.5', "2,,"]
        columns = tf.io.decode_csv(records, [[1], ["d"], [2.5]])
        wanted = [[1, 2], [b'a,"b', b"d"], [3.5, 2.5]]
        assert [column.numpy().tolist() for column in columns] == wanted
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expect 1 fields but have 2"):
            tf.io.decode_csv(["1,2"], [[1]])
        with pytest.raises(tf.errors.InvalidArgumentError, match="required but missing"):
            tf.io.decode_csv(["1,"], [[1], tf.constant([], tf.int32)])

    def test_compressed(self):
        assert tf.io.decode_compressed([zlib.compress(b"text")], "ZLIB").numpy()[0] == b"text"
        with pytest.raises(tf.errors.DataLossError, match="incorrect header"):
            tf.io.decode_compressed([b"zz"], "GZIP")


class TestSounds:
    def test_there_and_back(self):
        sound = np.array([[0.0, 0.5], [1.0, -1.0], [0.25, -2.0]], np.float32)
        file = tf.audio.encode_wav(sound, 8000)
        assert file.numpy()[44:] == b"\0\0\0@\xff\x7f\0\x80\0 \0\x80"
        audio, rate = tf.audio.decode_wav(file, desired_channels=1, desired_samples=4)
        assert audio.numpy().ravel().tolist() == [0, np.float32(0.9999695), 0.25, 0]
        assert int(rate) == 8000
        with pytest.raises(tf.errors.InvalidArgumentError, match="too short"):
            tf.audio.decode_wav(b"zz")


class TestPictures:
    @pytest.mark.parametrize("channels", [1, 2, 3, 4])
    @pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
    def test_png_keeps_pixels(self, channels, dtype):
        wide = np.concatenate([PIXELS, PIXELS[..., :1]], -1)[..., :channels].astype(dtype) * dtype(
            1
        )
        if dtype is np.uint16:
            wide = wide * np.uint16(200)
        file = tf.io.encode_png(wide)
        np.testing.assert_array_equal(tf.io.decode_png(file, dtype=dtype).numpy(), wide)

    def test_channels_and_depth(self):
        file = tf.io.encode_png(PIXELS)
        assert tf.io.decode_png(file, 1).numpy()[0, 0, 0] == 30
        assert tf.io.decode_png(file, 4).numpy()[0, 0].tolist() == [0, 37, 74, 255]
        assert (
            tf.io.decode_png(file, dtype=tf.uint16).numpy() == PIXELS.astype(np.uint16) * 257
        ).all()
        floats = tf.io.decode_image(file, dtype=tf.float32).numpy()
        np.testing.assert_allclose(floats, PIXELS / np.float32(255), rtol=1e-6)

    def test_jpeg(self):
        smooth = np.add.outer(np.arange(16) * 4, np.arange(24) * 4).astype(np.uint8)
        colours = np.stack([smooth, smooth[::-1], smooth], -1)
        file = tf.io.encode_jpeg(colours)
        assert tf.io.is_jpeg(file).numpy()
        assert tf.io.extract_jpeg_shape(file).numpy().tolist() == [16, 24, 3]
        decoded = tf.io.decode_jpeg(file).numpy()
        assert np.abs(decoded.astype(int) - colours).max() < 12
        cut = tf.io.decode_and_crop_jpeg(file, [2, 3, 4, 5]).numpy()
        assert (cut == decoded[2:6, 3:8]).all()
        assert tf.io.decode_jpeg(file, ratio=2).shape == (8, 12, 3)
        assert tf.image.adjust_jpeg_quality(colours, 50).shape == colours.shape

    def test_bad_pictures(self):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Unknown image file format"):
            tf.io.decode_image(b"zz")
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid PNG data"):
            tf.io.decode_png(b"\x89PNG\r\n\x1a\nzz")
        with pytest.raises(tf.errors.InvalidArgumentError, match="1, 2, 3, or 4 channels, got 5"):
            tf.io.encode_png(np.zeros((2, 2, 5), np.uint8))

    def test_without_pillow(self, monkeypatch):
        file = tf.io.encode_png(PIXELS)
        monkeypatch.setitem(sys.modules, "PIL.Image", None)
        with pytest.raises(ImportError, match="pip install gradtape"):
            tf.io.decode_png(file)
