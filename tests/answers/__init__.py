"""What TensorFlow answers: how calls are made from the op table's cases, stored, and repeated."""

import pytest

for _module in ("comparison",):
    pytest.register_assert_rewrite(f"{__name__}.{_module}")
