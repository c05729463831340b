import pytest
from ages import mean_age


@pytest.mark.dp(epsilon=1.0, neighbours="replace_one", unit="one person's age")
def test_the_mean_age_is_private(dp):
    dp.check_function(mean_age, neighbours=([20, 30, 0], [20, 30, 100]))
