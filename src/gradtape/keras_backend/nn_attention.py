"""Attention."""

import math

import numpy as np
from keras.src.backend.common import dtypes

import gradtape as tf

from .core import cast, convert_to_tensor


def dot_product_attention(
    query,
    key,
    value,
    bias=None,
    mask=None,
    scale=None,
    is_causal=False,
    flash_attention=None,
    attn_logits_soft_cap=None,
):
    """Means of values, weighted by the softmax of the products of queries and keys.

    Args:
        query: a tensor (batch, targets, heads, size).
        key: a tensor (batch, sources, heads, size), or with fewer heads that divide the queries'.
        value: a tensor with the batch, sources and heads of `key`.
        bias: what to add to the products, broadcast to (batch, heads, targets, sources).
        mask: where to attend, broadcast likewise.
        scale: what to multiply the products by; one over the root of the size if None.
        is_causal: whether targets attend to no later source.
        flash_attention: accepted; the same values are always computed in the same way.
        attn_logits_soft_cap: what products come near to but never exceed, in size.

    Raises:
        ValueError: the tensors have not four axes.
    """
    query, key, value = convert_to_tensor(query), convert_to_tensor(key), convert_to_tensor(value)
    if any([x.shape.rank != 4 for x in (query, key, value)]):
        raise ValueError(
            "`dot_product_attention` only supports 4D inputs. Received: "
            f"query.shape={tuple(query.shape)}, key.shape={tuple(key.shape)}, "
            f"value.shape={tuple(value.shape)}."
        )
    dtype = dtypes.result_type(query.dtype, key.dtype, value.dtype)
    query, key, value = cast(query, dtype), cast(key, dtype), cast(value, dtype)
    heads, groups = query.shape[2], query.shape[2] // key.shape[2]
    if groups > 1:
        key, value = tf.repeat(key, groups, axis=2), tf.repeat(value, groups, axis=2)

    # Products and their softmax are at least float32.
    wide = dtypes.result_type(dtype, "float32")
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1])
    query, key = cast(query, wide), cast(key, wide)
    logits = tf.einsum("btnh,bsnh->bnts", query, key) * cast(scale, wide)
    if attn_logits_soft_cap is not None:
        cap = cast(attn_logits_soft_cap, wide)
        logits = cap * tf.tanh(logits / cap)
    if bias is not None:
        logits += cast(_with_heads(convert_to_tensor(bias, dtype), heads), wide)
    allowed = _allowed(mask, is_causal, heads, *tuple(logits.shape)[2:])
    if allowed is not None:
        # Far below all others, yet finite: where nothing is allowed, all are weighted alike.
        logits = tf.where(allowed, logits, tf.constant(logits.dtype.min * 0.7, logits.dtype))
    return tf.einsum("bnts,bsnh->btnh", cast(tf.nn.softmax(logits), dtype), value)


def _allowed(mask, is_causal, heads, targets, sources):
    """Where attention may go, or None if anywhere."""
    causal = np.tri(targets, sources, dtype=bool) if is_causal else None
    if mask is None:
        return causal
    mask = cast(_with_heads(convert_to_tensor(mask), heads), "bool")
    return mask if causal is None else tf.logical_and(mask, causal)


def _with_heads(x, heads):
    """`x` with four axes; three are taken for those without the heads, or without the targets."""
    while x.shape.rank < 4:
        has_heads = x.shape.rank == 3 and x.shape[1] == heads
        x = tf.expand_dims(x, 2 if has_heads else 1 if x.shape.rank == 3 else 0)
    return x
