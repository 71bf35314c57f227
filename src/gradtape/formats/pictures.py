"""Pictures in files: PNG, JPEG, GIF, BMP and WebP, by the library Pillow where it is installed."""

import importlib
import io

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.effects import performed
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.tensor import EagerTensor
from ..ops.arguments import integer
from ..ops.image import convert_image_dtype
from .deep_png import decode_deep, encode_deep, is_deep
from .strings import one_string, string_array, string_tensor

_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_KINDS = (
    (b"\xff\xd8\xff", "JPEG"),
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"GIF8", "GIF"),
    (b"BM", "BMP"),
)


def _pillow():
    try:
        return importlib.import_module("PIL.Image")
    except ImportError:
        raise ImportError(
            "Reading and writing pictures needs Pillow. Install it with "
            "`pip install gradtape[image]` or `pip install Pillow`."
        ) from None


def _kind(data, op_name):
    for start, kind in _KINDS:
        if data.startswith(start):
            return kind
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WEBP"
    raise invalid_argument(
        op_name,
        "Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP required.",
    )


def _opened(data, op_name):
    try:
        picture = _pillow().open(io.BytesIO(data))
        picture.load()
    except ImportError:
        raise
    except Exception as error:
        kind = _kind(data, op_name)
        raise invalid_argument(op_name, f"Invalid {kind} data, size {len(data)}: {error}") from None
    return picture


def _pixels(picture, channels):
    """The 8-bit pixels of a picture, [height, width, channels]; its own channels if 0."""
    if picture.mode in ("P", "PA", "1") or (picture.mode == "L" and "transparency" in picture.info):
        clear = "transparency" in picture.info
        plain = "L" if picture.mode in ("1", "L") else "RGB"
        own = {"L": "LA", "RGB": "RGBA"}[plain] if clear else plain
        picture = picture.convert(own)
    elif picture.mode not in _MODES.values():
        picture = picture.convert("RGB")
    array = np.asarray(picture)
    array = array[..., None] if array.ndim == 2 else array
    return _with_channels(array, channels)


def _with_channels(array, channels):
    """Grey levels made colours or colours grey, and alpha added or dropped."""
    own = array.shape[-1]
    if channels in (0, own):
        return array
    colours = array[..., :1] if own <= 2 else array[..., :3]
    if channels >= 3 and own <= 2:
        colours = np.repeat(colours, 3, -1)
    elif channels <= 2 and own >= 3:
        colours = _grey(colours)
    if channels in (1, 3):
        return np.ascontiguousarray(colours)
    if own in (2, 4):
        alpha = array[..., -1:]
    else:
        alpha = np.full((*array.shape[:-1], 1), np.iinfo(array.dtype).max, array.dtype)
    return np.concatenate([colours, alpha], -1)


def _grey(colours):
    """Brightness in 15-bit integers, rounded as the PNG library does at each depth."""
    red, green, blue = np.moveaxis(colours.astype(np.int64), -1, 0)
    rounding = 0 if colours.dtype == np.uint8 else 1 << 14
    grey = (9797 * red + 19234 * green + 3737 * blue + rounding) >> 15
    same = (red == green) & (red == blue)
    return np.where(same, red, grey)[..., None].astype(colours.dtype)


def _check_channels(op_name, channels, allowed):
    channels = 0 if channels is None else integer(channels, op_name)
    if channels not in allowed:
        raise invalid_argument(op_name, f"channels must be one of {allowed}, got {channels}")
    return channels


def _to_depth(array, dtype):
    """Pixels in 8 or 16 bits, or from 0 to 1 in float32."""
    if dtype is dtypes.float32:
        scale = np.float32(1) / np.float32(np.iinfo(array.dtype).max)
        return array.astype(np.float32) * scale
    if dtype is dtypes.uint16 and array.dtype == np.uint8:
        return array.astype(np.uint16) * np.uint16(257)
    if dtype is dtypes.uint8 and array.dtype == np.uint16:
        return (array >> 8).astype(np.uint8)
    return array


def _decoded(data, op_name, channels, dtype, expand_animations=True):
    kind = _kind(data, op_name)
    if kind == "GIF":
        frames = _gif_frames(data, op_name)
        if not expand_animations:
            frames = frames[0]
        return _to_depth(_with_channels(frames, channels), dtype)
    if kind == "PNG" and is_deep(data):
        return _to_depth(_with_channels(decode_deep(data), channels), dtype)
    picture = _opened(data, op_name)
    if kind == "JPEG":
        picture = _jpeg_mode(picture, channels)
    elif kind == "WEBP" and not channels:
        channels = 4 if picture.mode == "RGBA" else 3
    return _to_depth(_pixels(picture, channels), dtype)


def _jpeg_mode(picture, channels):
    if channels == 1 and picture.mode != "L":
        return picture.convert("L")
    if channels == 3 and picture.mode != "RGB":
        return picture.convert("RGB")
    return picture


def _gif_frames(data, op_name):
    picture = _opened(data, op_name)
    frames = []
    for index in range(getattr(picture, "n_frames", 1)):
        picture.seek(index)
        frames.append(np.asarray(picture.convert("RGB")))
    return np.stack(frames)


def _tensor(array):
    return EagerTensor(np.array(array, order="C"))


@export("io.decode_png image.decode_png")
@performed("DecodePng", pure=True)
def decode_png(contents, channels=0, dtype=dtypes.uint8, name=None):
    """The pixels of a PNG file (or another kind of picture), [height, width, channels].

    Args:
        contents: the file's bytes.
        channels: 1 for grey levels, 3 for colours, 4 for these with alpha; 0 for the file's.
        dtype: uint8 or uint16.

    Raises:
        InvalidArgumentError: the bytes are no picture.
        ImportError: Pillow is not installed.
    """
    channels = _check_channels("DecodePng", channels, (0, 1, 3, 4))
    data = one_string(contents, "DecodePng", "contents")
    return _tensor(_decoded(data, "DecodePng", channels, dtypes.as_dtype(dtype)))


@export("io.decode_webp image.decode_webp")
@performed("DecodeWebp", pure=True)
def decode_webp(contents, channels=0, dtype=dtypes.uint8, name=None):
    """The pixels of a WebP file; the arguments are those of `tf.io.decode_png`."""
    channels = _check_channels("DecodeWebP", channels, (0, 3, 4))
    data = one_string(contents, "DecodeWebP", "contents")
    return _tensor(_decoded(data, "DecodeWebP", channels, dtypes.as_dtype(dtype)))


@export("io.decode_bmp image.decode_bmp")
@performed("DecodeBmp", pure=True)
def decode_bmp(contents, channels=0, name=None):
    """The pixels of a BMP file; the arguments are those of `tf.io.decode_png`."""
    channels = _check_channels("DecodeBmp", channels, (0, 1, 3, 4))
    data = one_string(contents, "DecodeBmp", "contents")
    return _tensor(_decoded(data, "DecodeBmp", channels, dtypes.uint8))


@export("io.decode_gif image.decode_gif")
@performed("DecodeGif", pure=True)
def decode_gif(contents, name=None):
    """The pixels of all frames of a GIF file, [frames, height, width, 3].

    Raises:
        InvalidArgumentError: the bytes are no picture.
        ImportError: Pillow is not installed.
    """
    data = one_string(contents, "DecodeGif", "contents")
    if _kind(data, "DecodeGif") != "GIF":
        return _tensor(_decoded(data, "DecodeGif", 3, dtypes.uint8)[None])
    return _tensor(_gif_frames(data, "DecodeGif"))


@export("io.decode_image image.decode_image")
@performed("DecodeImage", pure=True)
def decode_image(contents, channels=None, dtype=dtypes.uint8, name=None, expand_animations=True):
    """The pixels of a picture of any kind.

    Args:
        contents: the file's bytes.
        channels: see `tf.io.decode_png`.
        dtype: the dtype of pixels; floating ones run from 0 to 1.
        expand_animations: whether a GIF gives all its frames, with one more axis.

    Raises:
        InvalidArgumentError: the bytes are no picture.
        ImportError: Pillow is not installed.
    """
    channels = _check_channels("DecodeImage", channels, (0, 1, 3, 4))
    dtype = dtypes.as_dtype(dtype)
    data = one_string(contents, "DecodeImage", "contents")
    plain = dtype in (dtypes.float32, dtypes.uint8, dtypes.uint16)
    read_as = dtype if plain else dtypes.uint16
    image = _tensor(_decoded(data, "DecodeImage", channels, read_as, expand_animations))
    return image if plain else convert_image_dtype(image, dtype)


@export("io.decode_jpeg image.decode_jpeg")
@performed("DecodeJpeg", pure=True)
def decode_jpeg(
    contents,
    channels=0,
    ratio=1,
    fancy_upscaling=True,
    try_recover_truncated=False,
    acceptable_fraction=1,
    dct_method="",
    name=None,
):
    """The pixels of a JPEG file (or another kind of picture), [height, width, channels].

    Args:
        contents: the file's bytes.
        channels: 1 for grey levels, 3 for colours, 0 for the file's.
        ratio: by how much to shrink the picture: 1, 2, 4 or 8.
        fancy_upscaling: accepted for compatibility.
        try_recover_truncated: accepted for compatibility.
        acceptable_fraction: accepted for compatibility.
        dct_method: accepted for compatibility.

    Raises:
        InvalidArgumentError: the bytes are no picture.
        ImportError: Pillow is not installed.
    """
    channels = _check_channels("DecodeJpeg", channels, (0, 1, 3))
    data = one_string(contents, "DecodeJpeg", "contents")
    if ratio not in (1, 2, 4, 8):
        raise invalid_argument("DecodeJpeg", f"ratio must be 1, 2, 4, or 8, got {ratio}")
    pixels = _decoded(data, "DecodeJpeg", channels, dtypes.uint8, expand_animations=False)
    return _tensor(pixels if ratio == 1 else _shrunk(data, channels, ratio))


def _shrunk(data, channels, ratio):
    picture = _pillow().open(io.BytesIO(data))
    mode = picture.mode if channels == 0 else _MODES[channels]
    size = tuple([-(-side // ratio) for side in picture.size])
    picture.draft(mode, size)
    return _pixels(_jpeg_mode(picture, channels), channels)


@export("io.decode_and_crop_jpeg image.decode_and_crop_jpeg")
@performed("DecodeAndCropJpeg", pure=True)
def decode_and_crop_jpeg(
    contents,
    crop_window,
    channels=0,
    ratio=1,
    fancy_upscaling=True,
    try_recover_truncated=False,
    acceptable_fraction=1,
    dct_method="",
    name=None,
):
    """A window of the pixels of a JPEG file.

    Args:
        crop_window: its top, left, height and width.

    The other arguments are those of `tf.io.decode_jpeg`.

    Raises:
        InvalidArgumentError: the window does not lie in the picture.
    """
    whole = decode_jpeg(contents, channels, ratio).numpy()
    top, left, height, width = convert_to_tensor(crop_window, dtypes.int32).numpy().tolist()
    inside = top >= 0 and left >= 0 and height > 0 and width > 0
    if not inside or top + height > whole.shape[0] or left + width > whole.shape[1]:
        raise invalid_argument(
            "DecodeAndCropJpeg",
            f"Invalid crop window [{top}, {left}, {height}, {width}] in a picture of "
            f"{whole.shape[0]} by {whole.shape[1]} pixels",
        )
    return _tensor(whole[top : top + height, left : left + width])


@export("io.is_jpeg image.is_jpeg")
@performed("IsJpeg", pure=True)
def is_jpeg(contents, name=None):
    """Whether strings start as JPEG files do."""
    strings = string_array(contents)
    found = [item[:3] == b"\xff\xd8\xff" for item in strings.ravel()]
    return EagerTensor(np.array(found, np.bool_).reshape(strings.shape)[()])


@export("io.extract_jpeg_shape image.extract_jpeg_shape")
@performed("ExtractJpegShape", pure=True)
def extract_jpeg_shape(contents, output_type=dtypes.int32, name=None):
    """Height, width and channels of a JPEG file, without decoding its pixels.

    Raises:
        InvalidArgumentError: the bytes are no JPEG file.
        ImportError: Pillow is not installed.
    """
    data = one_string(contents, "ExtractJpegShape", "contents")
    if not data.startswith(b"\xff\xd8\xff"):
        raise invalid_argument("ExtractJpegShape", f"Invalid JPEG data, size {len(data)}")
    try:
        picture = _pillow().open(io.BytesIO(data))
    except OSError:
        raise invalid_argument("ExtractJpegShape", f"Invalid JPEG data, size {len(data)}") from None
    shape = [picture.height, picture.width, len(picture.getbands())]
    return EagerTensor(np.array(shape, dtypes.as_dtype(output_type).numpy_dtype))


@export("io.encode_png image.encode_png")
@performed("EncodePng", pure=True)
def encode_png(image, compression=-1, name=None):
    """Pixels as PNG files.

    Args:
        image: uint8 or uint16, [..., height, width, channels], with 1 to 4 channels.
        compression: from 0 (none) to 9; -1 for the usual.

    Raises:
        InvalidArgumentError: another dtype, rank or number of channels.
        ImportError: Pillow is not installed.
    """
    array = convert_to_tensor(image).numpy()
    if array.dtype not in (np.uint8, np.uint16):
        raise invalid_argument(
            "EncodePng", f"Pixels must be uint8 or uint16. Received: {array.dtype}"
        )
    if array.ndim < 3:
        raise invalid_argument("EncodePng", f"image must be at least rank 3, got {array.shape}")
    if array.shape[-1] not in _MODES:
        raise invalid_argument(
            "EncodePng", f"image must have 1, 2, 3, or 4 channels, got {array.shape[-1]}"
        )
    pictures = array.reshape(-1, *array.shape[-3:])
    files = [_png(each, 6 if compression < 0 else compression) for each in pictures]
    return string_tensor(files, array.shape[:-3]) if array.ndim > 3 else string_tensor(files[0])


def _png(array, compression):
    if array.dtype == np.uint16:
        return encode_deep(array, compression)
    file = io.BytesIO()
    _picture(array).save(file, "PNG", compress_level=compression)
    return file.getvalue()


def _picture(array):
    flat = array[..., 0] if array.shape[-1] == 1 else array
    return _pillow().fromarray(np.ascontiguousarray(flat))


@export("io.encode_jpeg image.encode_jpeg")
@performed("EncodeJpeg", pure=True)
def encode_jpeg(
    image,
    format="",
    quality=95,
    progressive=False,
    optimize_size=False,
    chroma_downsampling=True,
    density_unit="in",
    x_density=300,
    y_density=300,
    xmp_metadata="",
    name=None,
):
    """Pixels as a JPEG file.

    Args:
        image: uint8, [height, width, channels], with 1 or 3 channels.
        format: `"grayscale"`, `"rgb"` or `""` for what the channels say.
        quality: from 0 to 100.
        progressive: whether a reader can show it before it has read all.
        optimize_size: whether to spend time on a smaller file.
        chroma_downsampling: whether to keep colours at half the resolution.
        density_unit: `"in"` or `"cm"`.
        x_density: pixels a unit, across.
        y_density: pixels a unit, down.
        xmp_metadata: accepted for compatibility.

    Raises:
        InvalidArgumentError: another rank or number of channels.
        ImportError: Pillow is not installed.
    """
    array = convert_to_tensor(image, dtypes.uint8).numpy()
    if array.ndim != 3 or array.shape[-1] not in (1, 3):
        raise invalid_argument(
            "EncodeJpeg", f"image must have 1 or 3 channels, got {list(array.shape)}"
        )
    if format not in ("", "grayscale", "rgb"):
        raise invalid_argument("EncodeJpeg", f"format must be '', grayscale or rgb, got {format}")
    per_inch = 1.0 if density_unit == "in" else 2.54
    file = io.BytesIO()
    _picture(array).save(
        file,
        "JPEG",
        quality=int(quality) or 1,
        progressive=progressive,
        optimize=optimize_size,
        subsampling=2 if chroma_downsampling else 0,
        dpi=(round(x_density * per_inch), round(y_density * per_inch)),
    )
    return string_tensor(file.getvalue())


@export("image.adjust_jpeg_quality")
def adjust_jpeg_quality(image, jpeg_quality, dct_method="", name=None):
    """The image after JPEG compression of a quality from 0 to 100.

    Raises:
        InvalidArgumentError: there are not three axes, or neither 1 nor 3 channels.
        ImportError: Pillow is not installed.
    """
    image = convert_to_tensor(image)
    pixels = convert_image_dtype(image, dtypes.uint8, saturate=True)
    quality = integer(jpeg_quality, "EncodeJpegVariableQuality")
    if not 0 <= quality <= 100:
        raise invalid_argument(
            "EncodeJpegVariableQuality", f"quality must be in [0,100], got {quality}"
        )
    decoded = decode_jpeg(encode_jpeg(pixels, quality=quality), image.shape[-1])
    return convert_image_dtype(decoded, image.dtype, saturate=True)
