"""Write pipelines/*.json: what TensorFlow answers to the pipelines in pipelines/*.txt.

Run `make answers`, or, where TensorFlow 2.21 is installed, from the root of the project:

    PYTHONPATH=tests python tests/data/make_tensorflow_pipelines.py [part of a file's name ...]
"""

import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tensorflow as tf  # pyright: ignore[reportMissingModuleSource]

from pipelines import DATA, answer_of, expressions, files  # pyright: ignore[reportMissingImports]

for path in sorted(DATA.glob("*.txt")):
    if sys.argv[1:] and not any(part in path.name for part in sys.argv[1:]):
        continue
    answers = {}
    for text in expressions(path):
        with files() as folder:
            answers[text] = answer_of(tf, text, folder)
    encoded = json.dumps(answers, indent=1, ensure_ascii=False) + "\n"
    path.with_suffix(".json").write_text(encoded, encoding="utf-8")
    print(f"{path.name}: {len(answers)} pipelines")
