"""Which element comes first: stable orders of numbers, by the quickest sort there is for them."""

import numpy as np

# From so many elements on, sorting numbers that hold a key and a place is quicker than argsort.
_MANY = 256
_KEYS = {size: np.dtype(f"u{size}") for size in (1, 2, 4)}


def order(x, k, largest):
    """The positions of the first k; NaN counts as the largest, which NumPy knows of its floats."""
    if k == 1 and largest:
        return np.argmax(x, axis=-1)[..., None]
    size = x.shape[-1]
    if largest and 0 < 8 * k < size and size >= _MANY:
        found = _few_largest(x, k)
        if found is not None:
            return found
    if x.dtype.itemsize <= 4 and size >= _MANY:
        return places_in_order(x, largest)[..., :k]
    if largest:
        # Sorted from behind and read from behind: equal elements keep their order.
        backward = np.argsort(x[..., ::-1], axis=-1, kind="stable")[..., ::-1]
        return size - 1 - backward[..., :k]
    return np.argsort(x, axis=-1, kind="stable")[..., :k]


def places_in_order(x, largest):
    """A stable argsort of numbers of up to 32 bits, several times quicker than NumPy's.

    With its place in the lower half of 64 bits no number equals another, so any sort is stable.
    """
    key = _sort_key(x)
    packed = (~key if largest else key).astype(np.uint64)
    packed <<= np.uint64(32)
    packed |= np.arange(x.shape[-1], dtype=np.uint64)
    packed.sort(axis=-1)
    packed &= np.uint64(2**32 - 1)
    return packed.view(np.int64)


def _sort_key(x):
    """Unsigned numbers in the order of `x`, equal ones for equals; NaN is the largest."""
    unsigned = _KEYS[x.dtype.itemsize]
    if x.dtype.kind in "bu":
        return x.view(unsigned)
    sign_bit = unsigned.type(1 << (x.dtype.itemsize * 8 - 1))
    if x.dtype.kind == "i":
        return x.view(unsigned) ^ sign_bit
    key = (x + x.dtype.type(0)).view(unsigned)  # -0.0 becomes 0.0, which it equals
    is_negative = key >> unsigned.type(x.dtype.itemsize * 8 - 1)
    key ^= np.negative(is_negative, out=is_negative) | sign_bit
    unordered = np.isnan(x)
    if unordered.any():
        key[unordered] = np.iinfo(unsigned).max
    return key


def _few_largest(x, k):
    """The positions of the k largest, from those not below the k-th; None where there is NaN."""
    size = x.shape[-1]
    top = np.partition(x, size - k, axis=-1)[..., size - k :]
    if x.dtype.kind == "f" and np.isnan(top).any():
        return None
    least = top[..., :1]
    is_among = x >= least
    if np.count_nonzero(is_among) != k * (x.size // size):
        # Of those that equal the k-th, only the first ones are among the k.
        is_more = x > least
        is_equal = is_among ^ is_more
        room = k - np.count_nonzero(is_more, axis=-1, keepdims=True)
        is_among = is_more | (is_equal & (np.cumsum(is_equal, axis=-1, dtype=np.int32) <= room))
    places = (np.flatnonzero(is_among) % size).reshape(*x.shape[:-1], k)
    values = np.take_along_axis(x, places, axis=-1)
    backward = np.argsort(values[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    return np.take_along_axis(places, k - 1 - backward, axis=-1)
