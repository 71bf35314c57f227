"""`gradtape.keras` is the package Keras itself, which takes this module's place."""

import sys

from .keras_finder import load_keras

sys.modules[__name__] = load_keras()
