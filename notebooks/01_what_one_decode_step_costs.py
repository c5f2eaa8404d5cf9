# %% [markdown]
# # 1. What does one decode step cost?
#
# *About 12 minutes; under ten seconds of computing; no GPU.*
#
# **The question.** Kimi K2.6 runs on eight RTX PRO 6000 cards. One user, one token at a time, a
# context of 4,096 tokens, no speculation. A colleague says: "decoding is memory bound, so the step
# takes as long as reading the weights." **How many milliseconds is one step?**
#
# ## Facts you may use
#
# | fact | per card and step | source |
# | --- | --- | --- |
# | bytes read | 1.49 GB of routed experts (8 of 384 in 60 layers), 4.21 GB of all other weights, 0.29 GB of KV cache | arithmetic on `data/models/kimi-k2.6.cfg` |
# | messages | two all-reduces in each of 61 layers, 25.7 us each at one token | `data/hardware/rtx-pro-6000-server.cfg`, measured by others |
# | fixed times | 30 us an expert block; 6.6 us each of 428 small matrix products, with the small kernels around it; 0.6 us between kernels (14 a layer); about 10 us an attention call | the same file (the 6.6 us are fitted, see `PROVENANCE.md` there); attention: `data/published/h200_attention_us.csv` |
#
# Long reads reach 1,480 GB/s (expert blocks 1,530 GB/s). Bytes, messages and fixed times each give
# a part of the step:

# %%
from lesson import check, check_at_least, exercise, predict, print_origin, run_cli

LAYERS, EXPERT_LAYERS = 61, 60
READ_GBPS, EXPERT_READ_GBPS = 1480, 1530

expert_gb = EXPERT_LAYERS * 8 * (3 * 7168 * 2048 * 4.5 / 8) / 8 / 1e9  # 8 experts, 1/8 of each
kv_gb = 4096 * 576 * 2 * LAYERS / 1e9  # 576 bf16 numbers a token and layer, whole on every card
bytes_ms = expert_gb / EXPERT_READ_GBPS * 1e3 + (4.21 + kv_gb) / READ_GBPS * 1e3
messages_ms = 2 * LAYERS * 25.7 / 1e3
fixed_ms = (EXPERT_LAYERS * 30 + 428 * 6.6 + LAYERS * (14 * 0.6 + 10)) / 1e3
print(f"bytes {bytes_ms:.2f} ms, messages {messages_ms:.2f} ms, fixed times {fixed_ms:.2f} ms")

# %% [markdown]
# ## Your prediction
#
# If all three overlapped perfectly, the step would take as long as the largest; if nothing
# overlapped, as long as their sum. Where in between? Write a number of milliseconds before you go on.

# %% tags=["prediction"]
prediction_ms = 8.0

# %%
predict("the step", prediction_ms, low=max(bytes_ms, messages_ms, fixed_ms),
        high=bytes_ms + messages_ms + fixed_ms, unit="ms")

# %% [markdown]
# ## Run it
#
# The simulator prices every part of the step for this deployment. Without speculation there is no
# draft tree for the host to build, so its work is set to zero.

# %%
ONE_STEP = """
[model]
preset = kimi-k2.6
[hardware]
preset = rtx-pro-6000-server
[workload]
kind = closed-loop
context_tokens = 4096
output_tokens = 16
[speculation]
draft_tokens = 1
[cost]
attention = packed
host_us = 0
"""
run = run_cli(ONE_STEP)
step = run.steps[0]
parts = {key[:-3]: value for key, value in step.items()
         if key.endswith("_ms") and key not in ("start_ms", "duration_ms")}
for name, ms in sorted(parts.items(), key=lambda item: -item[1]):
    print(f"{name:<12}{ms:7.3f} ms {ms / step['duration_ms']:6.1%}")
print(f"{'step':<12}{step['duration_ms']:7.3f} ms")

# %% [markdown]
# ## Check it
#
# A simulator can be wrong. These are things that must hold whatever it does inside: parts add up to
# the step to the nanosecond, one token activates exactly eight experts, no part beats its bytes or
# messages. The time is *predicted by an analytic model*, not measured here.

# %%
check("parts add up to the step", round(sum(parts.values()) * 1e6),
      round(step["duration_ms"] * 1e6), unit="ns")
check("activated experts of one token", step["activated_experts"], 8)
check("experts: fixed time and bytes", parts["experts"],
      EXPERT_LAYERS * 30 / 1e3 + expert_gb / EXPERT_READ_GBPS * 1e3, tolerance=0.01, unit="ms")
check("collectives: 122 messages", parts["collective"], messages_ms, tolerance=0.01, unit="ms")
check_at_least("attention reads the KV cache", parts["attention"], kv_gb / READ_GBPS * 1e3, "ms")
check_at_least("dense layers read their weights", parts["dense"], 4.21 / READ_GBPS * 1e3, "ms")
check("timing from the analytic model", run.summary["timing_source"]["model"], 1)

print()
print(f"predicted by you {prediction_ms:.2f} ms, simulated {step['duration_ms']:.2f} ms, "
      f"bytes alone {bytes_ms:.2f} ms = {bytes_ms / step['duration_ms']:.0%} of the step")

# %% [markdown]
# ## Why
#
# A step is a chain: layer after layer, each waits for the one before. Nothing overlaps, so the
# step is close to the *sum*, and reading bytes is only about a third of it. At one token every link
# of the chain is so short that its fixed time shows: sixty expert blocks that cannot take less than
# 30 us, over four hundred small products, 122 messages that carry 14 KB and cost nearly what an empty
# one costs. "Memory bound" is true of each long read, and still not of the step.
#
# How good are these numbers? A public measurement of this model on eight such cards
# (voipmonitor/rtx6kpro, one stream, no speculation, fp8 cache) fits 10.9 ms plus 0.08 ms per thousand
# tokens: about 11.3 ms here. Its cards sit behind PCIe switches, with an all-reduce of about 8 us; with
# 25.7 us a message, 2.2 ms more are expected of the articles' machine. The 6.6 us above were fitted to
# that very table, so the agreement shows that the arithmetic is right, not that the model predicts.

# %% [markdown]
# ## Exercise: when would reading the cache be half of the step?
#
# Complete the function (about one line). It gives the context, in tokens, at which reading the KV
# cache once takes as long as everything else together.
#
# * `rest_ms`: everything but attention, in milliseconds
# * `kv_bytes_per_token`: bytes of one token over all layers
# * `read_gbps`: decimal gigabytes per second

# %% tags=["exercise"]
def crossover_tokens(rest_ms, kv_bytes_per_token, read_gbps):
    return None

# %% tags=["exercise-check"]
def spec(rest_ms, kv_bytes_per_token, read_gbps):
    """The context whose bytes, read in rest_ms, need just read_gbps."""
    per_token_ms = kv_bytes_per_token / (read_gbps * 1e9) * 1e3
    return rest_ms / per_token_ms


rest_ms = step["duration_ms"] - parts["attention"]
passed = exercise(crossover_tokens, spec,
                  [(rest_ms, 70272, 1480), (rest_ms, 35136, 1480), (1.0, 1e6, 1000)])
if passed:
    tokens = crossover_tokens(rest_ms, 70272, 1480)
    slots = run.summary["kv"]["slots"]
    print(f"{tokens:,.0f} tokens; the pool of this card holds {slots:,}")

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# ```python
# def crossover_tokens(rest_ms, kv_bytes_per_token, read_gbps):
#     return rest_ms * 1e-3 * read_gbps * 1e9 / kv_bytes_per_token
# ```
#
# For this step that is about a quarter of a million tokens, more than the pool of a card holds. A
# kernel that reads the cache once cannot become the bottleneck of a single stream here; one that
# reads it many times can. That is the subject of the figure `bottleneck_shift`.
#
# </details>

# %% [markdown]
# ## What would change the answer
#
# * **More tokens in the step.** Nine tokens, as a verify step of speculative decoding has, activate
#   66 experts a layer instead of 8: the expert bytes grow eightfold, the fixed times hardly at all.
# * **Many users.** Each brings its own KV cache; weights are still read once.
# * **More cards.** Bytes shrink, messages do not.
# * **Fused kernels.** They attack the fixed times, the largest of the three parts above.

# %% tags=["revision"]
print_origin()
