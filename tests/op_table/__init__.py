"""One table of op cases, and the checks it drives for every op."""

import pytest

# Lets the assertions of these modules say what they compared.
for _module in (
    "arrays",
    "batch_checks",
    "calls",
    "effect_checks",
    "gradient_checks",
    "value_checks",
):
    pytest.register_assert_rewrite(f"{__name__}.{_module}")
