"""gradtape's log: the Python logger named `tensorflow`, printing as TensorFlow prints."""

import sys

_seen: dict = {}


def get_logger():
    """The logger that warnings go to: `tf.get_logger()`."""
    import logging

    logger = logging.getLogger("tensorflow")
    if not logger.handlers and not logging.getLogger().handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(levelname)s:%(name)s:%(message)s"))
        logger.addHandler(handler)
        logger.propagate = False
    return logger


def warn_first(limit, message, *, depth):
    """Warns the first `limit` times that one line of code causes this kind of message.

    Args:
        limit: how often a call site may warn.
        message: the text; its first words tell kinds apart.
        depth: how many frames up the call site is; 1 is the caller of the function that warns.
    """
    frame = sys._getframe(depth + 1)
    site = (frame.f_code.co_filename, frame.f_lineno, message[:40])
    count = _seen.get(site, 0)
    if count < limit:
        _seen[site] = count + 1
        get_logger().warning("%s", message)


def warn(message):
    """Warns every time."""
    get_logger().warning("%s", message)
