#!/usr/bin/python3
"""Every figure comes out of the pinned results, twice the same to the byte; the exact curves are
right where they are known in closed form, and the simulated points lie on them."""

import sys
import tempfile
from math import comb
from pathlib import Path

SKIP = 77
try:
    import matplotlib  # noqa: F401
    import numpy as np
    import pandas  # noqa: F401
except ImportError as missing:
    print(f"SKIPPED: {missing.name} is not installed for {sys.executable}")
    sys.exit(SKIP)

import bottleneck_shift
import exact_routing
import figlib
import make_all
import moe_idle

FILES = (".pdf", ".png", ".csv", ".caption.txt")


def draw(folder):
    sys.argv = ["make_all.py", "--pinned", "--output", str(folder)]
    assert make_all.main() == 0, "a figure failed"
    return {f"{name}{suffix}": (Path(folder) / f"{name}{suffix}").read_bytes()
            for name in make_all.FIGURES for suffix in FILES}


def test_figures_from_pinned_results():
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        a, b = draw(first), draw(second)
    for name in a:
        assert a[name] == b[name], f"{name} differs between two runs on the same data"
        assert len(a[name]) > 100, f"{name} is empty"
    for name in ("bottleneck_shift", "azure_conv"):
        caption = a[f"{name}.caption.txt"].decode()
        assert "predicted for RTX PRO 6000 (analytic model)" in caption, caption
        assert "revision" in caption and "seed" in caption, caption


def test_exact_routing():
    experts, k, ranks = 384, 8, 8
    exact = exact_routing.exact_curves(experts, k, ranks, 9)
    # One token selects k experts; T tokens E (1 - (1 - k/E)^T) on average.
    assert abs(exact["activated_experts"][0] - k) < 1e-9
    assert abs(exact["activated_experts"][8] - experts * (1 - (1 - k / experts) ** 9)) < 1e-9
    # A given rank is idle if every token selects outside its 48 experts.
    assert abs(exact["idle_rank_probability"][8] - (comb(336, 8) / comb(384, 8)) ** 9) < 1e-15
    # One rank: nothing to be unequal to. As many ranks as experts, one token: max 1, mean k/E.
    alone = exact_routing.exact_curves(experts, k, 1, 2)
    assert np.allclose(alone["expert_imbalance"], 1)
    spread = exact_routing.exact_curves(experts, k, experts, 1)
    assert abs(spread["expert_imbalance"][0] - experts / k) < 1e-9


def test_simulated_points_lie_on_the_exact_curves():
    result = figlib.load(moe_idle.NAME, None)
    table = result.table[result.table["moe.placement"] == "whole-expert"]
    exact = exact_routing.exact_curves(*moe_idle.shape_of(result), 512)
    compared = 0
    for row in table.to_dict("records"):
        tokens = row["moe.tokens_per_step"]
        if tokens != round(tokens):
            continue
        # Means over 60 layers and at least 7 steps: the standard error of the imbalance is below
        # 1 %, that of the activated experts far below.
        for column in ("activated_experts", "expert_imbalance"):
            expected = exact[column][round(tokens) - 1]
            assert abs(row[f"moe.{column}"] / expected - 1) < 0.01, (tokens, column)
        compared += 1
    assert compared >= 8, f"only {compared} points with a whole number of tokens"


def test_crossing():
    # Shares 0.25 at 1,000 and 0.75 at 4,000: 0.5 half-way in log context, at 2,000.
    assert abs(figlib.crossing([1000, 4000], [0.25, 0.75], 0.5) - 2000) < 1e-9
    assert figlib.crossing([1000, 4000], [0.6, 0.7], 0.5) is None
    assert figlib.three_digits(60749) == "60,700" and figlib.three_digits(9.0461) == "9.05"


def test_bad_shares_are_refused():
    table = figlib.load(bottleneck_shift.NAME, None).table.copy()
    table["attribution.attention"] += 0.01
    try:
        figlib.check_shares(table, bottleneck_shift.NAME)
    except ValueError:
        return
    raise AssertionError("shares that do not add up to 1 were accepted")


def main():
    tests = [(name, test) for name, test in sorted(globals().items()) if name.startswith("test_")]
    failed = 0
    for name, test in tests:
        try:
            test()
            print(f"ok     {name}")
        except AssertionError as error:
            print(f"FAILED {name}: {error}")
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
