"""Strings sorted into numbered buckets by their hashes."""

import numpy as np

from ..core import string_hash
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from .strings import each_string, string_operand

_INT64 = np.dtype(np.int64)


def _check_buckets(op_name):
    def check(num_buckets, key=(0, 0)):
        if num_buckets < 1:
            raise invalid_argument(
                op_name,
                f"Value for attr 'num_buckets' of {num_buckets} must be at least minimum 1\n\t; "
                f"NodeDef: {{{{node {op_name}}}}}",
            )
        if len(key) != 2:
            raise invalid_argument(op_name, "Key must have 2 elements")

    return check


_hash = each_string(
    "StringToHashBucket",
    lambda item, num_buckets: string_hash.murmur(item) % num_buckets,
    _INT64,
    inputs="string_tensor",
    check=_check_buckets("StringToHashBucket"),
    raw="string_tensor, num_buckets",
)
_fast_hash = each_string(
    "StringToHashBucketFast",
    lambda item, num_buckets: string_hash.fingerprint(item) % num_buckets,
    _INT64,
    check=_check_buckets("StringToHashBucketFast"),
    raw="input, num_buckets",
)
_strong_hash = each_string(
    "StringToHashBucketStrong",
    lambda item, num_buckets, key: string_hash.sip(item, key) % num_buckets,
    _INT64,
    check=_check_buckets("StringToHashBucketStrong"),
    raw="input, num_buckets, key",
)


@export("strings.to_hash_bucket")
def to_hash_bucket(input, num_buckets, name=None):
    """A number below `num_buckets` for each string, by a hash that may change."""
    return apply(_hash.op, (string_operand(input),), {"num_buckets": int(num_buckets)})


@export("strings.to_hash_bucket_fast")
def to_hash_bucket_fast(input, num_buckets, name=None):
    """A number below `num_buckets` for each string, by a hash that never changes."""
    return apply(_fast_hash.op, (string_operand(input),), {"num_buckets": int(num_buckets)})


@export("strings.to_hash_bucket_strong")
def to_hash_bucket_strong(input, num_buckets, key, name=None):
    """A number below `num_buckets` for each string, by a hash nobody can foresee without the key.

    Args:
        input: the strings.
        num_buckets: how many numbers there are.
        key: two integers.
    """
    attrs = {"num_buckets": int(num_buckets), "key": tuple([int(word) for word in key])}
    return apply(_strong_hash.op, (string_operand(input),), attrs)
