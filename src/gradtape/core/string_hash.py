"""Hashes of byte strings: FarmHash's fingerprint, Murmur's and the keyed SipHash, 64 bits each.

Written on Python's integers, reduced to 64 bits after each step: strings are short.
"""

_ALL = (1 << 64) - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def _word(data, at):
    return int.from_bytes(data[at : at + 8], "little")


def _rotated(x, right):
    return (x >> right | x << (64 - right)) & _ALL


def _mixed(x):
    return x ^ x >> 47


def _folded(u, v, factor):
    """Two words made one."""
    a = _mixed((u ^ v) * factor & _ALL)
    return _mixed((v ^ a) * factor & _ALL) * factor & _ALL


def fingerprint(data):
    """FarmHash's 64-bit fingerprint, the same on every platform."""
    size = len(data)
    if size > 64:
        return _farm_of_long(data, size)
    factor = _K2 + size * 2 & _ALL
    if size > 32:
        return _farm_to_64(data, size, factor)
    if size > 16:
        a, b, c, d = _outer_words(data, size, factor, _K1)
        return _folded(
            _rotated(a + b & _ALL, 43) + _rotated(c, 30) + d & _ALL,
            a + _rotated(b + _K2 & _ALL, 18) + c & _ALL,
            factor,
        )
    if size >= 8:
        a, b = _word(data, 0) + _K2 & _ALL, _word(data, size - 8)
        c = _rotated(b, 37) * factor + a & _ALL
        return _folded(c, (_rotated(a, 25) + b) * factor & _ALL, factor)
    if size >= 4:
        first, last = [int.from_bytes(part, "little") for part in (data[:4], data[-4:])]
        return _folded(size + (first << 3), last, factor)
    if not size:
        return _K2
    y = data[0] + (data[size >> 1] << 8)
    z = size + (data[-1] << 2)
    return _mixed(y * _K2 & _ALL ^ z * _K0 & _ALL) * _K2 & _ALL


def _outer_words(data, size, factor, first_factor):
    return (
        _word(data, 0) * first_factor & _ALL,
        _word(data, 8),
        _word(data, size - 8) * factor & _ALL,
        _word(data, size - 16) * _K2 & _ALL,
    )


def _farm_to_64(data, size, factor):
    a, b, c, d = _outer_words(data, size, factor, _K2)
    y = _rotated(a + b & _ALL, 43) + _rotated(c, 30) + d & _ALL
    z = _folded(y, a + _rotated(b + _K2 & _ALL, 18) + c & _ALL, factor)
    e, f = _word(data, 16) * factor & _ALL, _word(data, 24)
    g = (y + _word(data, size - 32)) * factor & _ALL
    h = (z + _word(data, size - 24)) * factor & _ALL
    return _folded(
        _rotated(e + f & _ALL, 43) + _rotated(g, 30) + h & _ALL,
        e + _rotated(f + a & _ALL, 18) + g & _ALL,
        factor,
    )


def _farm_of_32_bytes(data, at, a, b):
    """Two words of state from four words of data and two of state."""
    w, x, y, z = [_word(data, at + 8 * i) for i in range(4)]
    a += w
    b = _rotated(b + a + z & _ALL, 21)
    c = a
    a += x + y
    b += _rotated(a & _ALL, 44)
    return a + z & _ALL, b + c & _ALL


def _farm_of_long(data, size):
    x, y = 81, 81 * _K1 + 113 & _ALL
    z = _mixed(y * _K2 + 113 & _ALL) * _K2 & _ALL
    state = x * _K2 + _word(data, 0) & _ALL, y, z, (0, 0), (0, 0)
    end = (size - 1) // 64 * 64
    for at in range(0, end, 64):
        state = _farm_round(data, at, state, _K1, 1)
    rest = size - 1 & 63
    x, y, z, v, w = state
    factor = _K1 + ((z & 0xFF) << 1) & _ALL
    w_first = w[0] + rest & _ALL
    v_first = v[0] + w_first & _ALL
    w_first = w_first + v_first & _ALL
    state = x, y, z, (v_first, v[1]), (w_first, w[1])
    x, y, z, v, w = _farm_round(data, end + rest - 63, state, factor, 9)
    return _folded(
        _folded(v[0], w[0], factor) + _mixed(y) * _K0 + z & _ALL,
        _folded(v[1], w[1], factor) + x & _ALL,
        factor,
    )


def _farm_round(data, at, state, factor, weight):
    x, y, z, v, w = state
    x = _rotated(x + y + v[0] + _word(data, at + 8) & _ALL, 37) * factor & _ALL
    y = _rotated(y + v[1] + _word(data, at + 48) & _ALL, 42) * factor & _ALL
    x ^= w[1] * weight & _ALL
    y = y + v[0] * weight + _word(data, at + 40) & _ALL
    z = _rotated(z + w[0] & _ALL, 33) * factor & _ALL
    v = _farm_of_32_bytes(data, at, v[1] * factor & _ALL, x + w[0] & _ALL)
    w = _farm_of_32_bytes(data, at + 32, z + w[1] & _ALL, y + _word(data, at + 16) & _ALL)
    return z, y, x, v, w


def murmur(data, seed=0xDECAFCAFFE):
    """MurmurHash64A."""
    factor = 0xC6A4A7935BD1E995
    size = len(data)
    state = seed ^ size * factor & _ALL
    whole = size & ~7
    for at in range(0, whole, 8):
        k = _mixed(_word(data, at) * factor & _ALL) * factor & _ALL
        state = (state ^ k) * factor & _ALL
    if size > whole:
        state = (state ^ int.from_bytes(data[whole:], "little")) * factor & _ALL
    return _mixed(_mixed(state) * factor & _ALL)


def sip(data, key):
    """SipHash-2-4 under a key of two words."""
    k0, k1 = [word & _ALL for word in key]
    state = (
        k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D,
        k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573,
    )  # fmt: skip
    whole = len(data) & ~7
    last = int.from_bytes(data[whole:], "little") | (len(data) & 0xFF) << 56
    for word in (*[_word(data, at) for at in range(0, whole, 8)], last):
        a, b, c, d = state
        a, b, c, d = _sip_rounds((a, b, c, d ^ word), 2)
        state = a ^ word, b, c, d
    a, b, c, d = state
    a, b, c, d = _sip_rounds((a, b, c ^ 0xFF, d), 4)
    return a ^ b ^ c ^ d


def _sip_rounds(state, count):
    a, b, c, d = state
    for _ in range(count):
        a, c = a + b & _ALL, c + d & _ALL
        b, d = _rotated(b, 51) ^ a, _rotated(d, 48) ^ c
        a, c = _rotated(a, 32) + d & _ALL, c + b & _ALL
        b, d = _rotated(b, 47) ^ c, _rotated(d, 43) ^ a
        c = _rotated(c, 32)
    return a, b, c, d
