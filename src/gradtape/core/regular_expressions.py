"""Regular expressions in RE2's syntax on byte strings, by Python's engine."""

import functools
import re

_CLASSES = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": r"\x00-\x7F", "blank": r"\t ",
    "cntrl": r"\x00-\x1F\x7F", "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~",
    "punct": r"!-/:-@\[-`{-~", "space": r"\t\n\v\f\r ", "upper": "A-Z", "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_TOKEN = re.compile(
    r"\\(?s:.)|\[:(\^?)(\w+):\]|\[\^?\]?|\]|\$|\(\?[a-zA-Z]*m[a-zA-Z]*[:)]", re.DOTALL
)


class PatternError(ValueError):
    """A pattern that cannot be read."""


@functools.lru_cache(maxsize=256)
def compiled(pattern):
    """The pattern, bytes or text, compiled for text.

    Raises:
        PatternError: it is not a regular expression.
    """
    try:
        return re.compile(_translated(_text(pattern)), re.ASCII)
    except re.error as error:
        raise PatternError(str(error)) from None


def _translated(pattern):
    """Named classes spelled out, and `$` and `\\z` as Python writes the very end of the text."""
    in_class = by_lines = False
    parts, at = [], 0
    for found in _TOKEN.finditer(pattern):
        parts.append(pattern[at : found.start()])
        at = found.end()
        token = found.group()
        if token.startswith("[:") and in_class and found.group(2) in _CLASSES and not found[1]:
            token = _CLASSES[found.group(2)]
        elif (token == r"\z" and not in_class) or (token == "$" and not in_class and not by_lines):
            token = r"\Z"
        elif token.startswith("(?"):
            by_lines = True
        elif token == "]":
            in_class = False
        elif token.startswith("["):
            if in_class:
                token = "\\" + token
            in_class = True
        parts.append(token)
    return "".join([*parts, pattern[at:]])


# Bytes that are no UTF-8 pass through text unharmed.
def _text(data):
    return data if isinstance(data, str) else data.decode("utf-8", "surrogateescape")


def _bytes(text):
    return text.encode("utf-8", "surrogateescape")


def full_match(pattern, data):
    """Whether the whole of `data` matches."""
    return compiled(pattern).fullmatch(_text(data)) is not None


def replaced(pattern, data, rewrite, everywhere):
    """`data` with matches replaced by `rewrite`, in which `\\1` is the first group and so on."""
    expression = compiled(pattern)
    pieces = _pieces(_text(rewrite))
    if any(isinstance(piece, int) and piece > expression.groups for piece in pieces):
        return data

    def written(match):
        parts = [piece if isinstance(piece, str) else match[piece] or "" for piece in pieces]
        return "".join(parts)

    return _bytes(expression.sub(written, _text(data), 0 if everywhere else 1))


@functools.lru_cache(maxsize=256)
def _pieces(rewrite):
    """Texts and group numbers, in turn."""
    pieces = []
    for part in re.findall(r"\\[0-9]|\\\\|[^\\]+|\\", rewrite):
        if len(part) == 2 and part[0] == "\\":
            pieces.append("\\" if part[1] == "\\" else int(part[1]))
        else:
            pieces.append(part)
    return tuple(pieces)
