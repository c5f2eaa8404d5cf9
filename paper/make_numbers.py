#!/usr/bin/python3
"""Everything in the paper that is not prose, from results: numbers.tex (one macro a number),
claims.tex (the claims table), and the figure with its caption. Rounding is decided here and
nowhere else. Results are the pinned ones in data/results. Fails when a result no longer bears out
what the text says in words.
"""

import argparse
import re
import shutil
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "experiments" / "plots"))

import bottleneck_shift  # noqa: E402
import exact_routing  # noqa: E402
import figlib  # noqa: E402
import moe_idle  # noqa: E402

CONTEXTS = {4096: "FourK", 16384: "SixteenK", 65536: "SixtyFourK"}
VARIANTS = {"extend-serial": "Serial", "flatten-split": "Flatten", "split-scalar": "Scalar",
            "split-vector": "Vector", "packed": "Packed"}
# Which claims a published series is made of.
BASELINE, FINAL = "C01", "C02"
VERDICTS = {"supported": "supported", "contradicted": "contradicted",
            "not-identified": "not identified", "needs": "needs more", "out-of-scope":
            "out of scope"}


def percent(share):
    return f"{100 * share:.0f}\\,\\%"


def published_numbers(numbers):
    table = figlib.published_throughput()
    series = {claim: table[table["claim_id"].str.startswith(claim)].set_index("context_tokens")
              for claim in (BASELINE, FINAL)}
    for context, name in CONTEXTS.items():
        base, final = (series[claim].loc[context, "tok_per_s"] for claim in (BASELINE, FINAL))
        numbers[f"PubFinalRate{name}"] = f"{final:g}"
        if context != 16384:
            numbers[f"PubSpeedup{name}"] = f"{final / base:.1f}"
        numbers[f"Context{name}"] = f"{context // 1024}k"
    # At constant acceptance length, what the context does not change cannot take longer than the
    # whole step of the shortest context: an upper bound of its share at the others.
    ms = series[FINAL]["ms_per_token"]
    for context in (16384, 65536):
        numbers[f"PubRestShare{CONTEXTS[context]}"] = percent(ms[4096] / ms[context])
    return series


def at(table, variant, context):
    rows = table[(table["cost.attention"] == variant) & (table["cost.launch_mode"] == "graph")
                 & (table["workload.context_tokens"] == context)]
    if len(rows) != 1:
        raise ValueError(f"bottleneck_shift: {len(rows)} points for {variant} at {context}")
    return rows.iloc[0]


def shift_numbers(numbers, result, published):
    table = result.table
    for variant, name in VARIANTS.items():
        rows = table[(table["cost.attention"] == variant) & (table["cost.launch_mode"] == "graph")]
        rows = rows.sort_values("workload.context_tokens")
        cross = figlib.crossing(rows["workload.context_tokens"], rows["attribution.attention"], 0.5)
        numbers[f"Cross{name}"] = bottleneck_shift.where_attention_leads(cross, rows)
    for variant, claim in (("extend-serial", BASELINE), ("split-vector", FINAL)):
        name = VARIANTS[variant]
        for context in (4096, 65536):
            predicted = at(table, variant, context)["ms_per_token.total"]
            printed = published[claim].loc[context, "ms_per_token"]
            numbers[f"Pred{name}{CONTEXTS[context]}"] = f"{figlib.three_digits(predicted)}\\,ms"
            numbers[f"Pub{name}{CONTEXTS[context]}"] = f"{figlib.three_digits(printed)}\\,ms"
            if context == 65536:
                numbers[f"PubOverPred{name}"] = f"{printed / predicted:.1f}"
    short, long = at(table, "split-vector", 4096), at(table, "split-vector", 65536)
    numbers["VectorAttentionFourK"] = percent(short["attribution.attention"])
    numbers["VectorAttentionSixtyFourK"] = percent(long["attribution.attention"])
    for part in ("experts", "dense", "collective"):
        numbers[f"Vector{part.title()}FourK"] = percent(short[f"attribution.{part}"])
    eager = table[(table["cost.attention"] == "split-scalar")
                  & (table["cost.launch_mode"] == "eager")
                  & (table["workload.context_tokens"] == 1024)].iloc[0]
    printed = figlib.published_throughput().set_index("claim_id").loc["C07b", "ms_per_token"]
    numbers["ContextOneK"] = "1k"
    numbers["PredEagerOneK"] = f"{figlib.three_digits(eager['ms_per_token.total'])}\\,ms"
    numbers["PubEagerOneK"] = f"{figlib.three_digits(printed)}\\,ms"
    last = table["workload.context_tokens"].max()
    numbers["LastContext"] = f"{last:,} tokens"
    numbers["PackedAttentionLast"] = percent(at(table, "packed", last)["attribution.attention"])
    numbers["AcceptanceLength"] = f"{table['acceptance_length'].mean():.1f}"
    numbers["ModelShare"] = percent(table["timing_source.model"].min())
    numbers["Card"] = figlib.HARDWARE_NAMES[result.manifest["hardware_preset"]]
    numbers["Seed"] = str(result.manifest["seed"])
    numbers["Revision"] = result.manifest["revision"][:12]
    numbers["Ranks"] = f"{result.manifest['settings']['hardware.ranks']} cards"
    numbers["VerifyNodes"] = f"{result.manifest['settings']['speculation.draft_tokens']} tokens"


def moe_numbers(numbers, result):
    experts, k, ranks = moe_idle.shape_of(result)
    tokens = moe_idle.VERIFY_TOKENS
    exact = exact_routing.exact_curves(experts, k, ranks, tokens)
    numbers["IdleOne"] = f"{exact['idle_rank_probability'][0]:.2f}"
    mantissa, exponent = f"{exact['idle_rank_probability'][tokens - 1]:.0e}".split("e")
    numbers["IdleVerify"] = rf"${mantissa}\times 10^{{{int(exponent)}}}$"
    numbers["ImbalanceVerify"] = f"{exact['expert_imbalance'][tokens - 1]:.2f}"
    numbers["ActivatedVerify"] = f"{exact['activated_experts'][tokens - 1]:.0f}"
    whole = result.table[result.table["moe.placement"] == "whole-expert"]
    nearest = whole.iloc[(whole["moe.tokens_per_step"] - tokens).abs().argsort().iloc[0]]
    numbers["WaitShareVerify"] = percent(nearest["attribution.expert_wait"])


def conversation_numbers(numbers, result):
    time = result.table[result.table["panel"] == "time"].groupby("series")["value"].mean()
    numbers["ConvRequests"] = f"{result.manifest['workload']['requests']:,} requests"
    numbers["ConvPrefill"] = percent(time["prefill"])
    verify = time.drop("prefill")
    largest = verify.idxmax()
    numbers["ConvLargest"] = figlib.PARTS[largest][0]
    numbers["ConvLargestShare"] = percent(verify.max() / verify.sum())
    numbers["ConvAttentionShare"] = percent(verify["attention"] / verify.sum())
    ttft = result.table[(result.table["panel"] == "latency")
                        & (result.table["series"] == "ttft_ms")].set_index("x")["value"]
    numbers["ConvFirstToken"] = f"{ttft[0.5] / 60000:.0f} minutes"


def prose_holds(shift, conversation, claims, published):
    """What sections/*.tex say in words, of numbers that may change. Returns what no longer holds."""
    graph = shift[shift["cost.launch_mode"] == "graph"]
    short, long = at(shift, "split-vector", 4096), at(shift, "split-vector", 65536)
    time = conversation[conversation["panel"] == "time"].groupby("series")["value"].mean()
    verdict = claims.set_index("id")["verdict"]

    def over(variant, claim, context):
        printed = published[claim].loc[context, "ms_per_token"]
        return printed / at(shift, variant, context)["ms_per_token.total"]

    parts = sorted(figlib.PARTS, key=lambda part: -short[f"attribution.{part}"])
    said = {
        "at 4k predictions are within 10 % of the printed times": all(
            abs(over(v, c, 4096) - 1) < 0.1 for v, c in
            (("extend-serial", BASELINE), ("split-vector", FINAL))),
        "at 64k printed times are more than twice the predicted": all(
            over(v, c, 65536) > 2 for v, c in
            (("extend-serial", BASELINE), ("split-vector", FINAL))),
        "experts lead at 4k, then dense layers": parts[:2] == ["experts", "dense"],
        "attention leads at 64k": long["bottleneck.part"] == "attention",
        "waiting for experts is zero when they are sliced": graph["attribution.expert_wait"].max() == 0,
        "attention does not lead the conversation": time.drop("prefill").idxmax() != "attention",
        "everything was predicted by the model": shift["timing_source.model"].min() == 1,
        "D01 is contradicted": verdict["D01"] == "contradicted",
        "C19 waits for an experiment": verdict["C19"] == "needs",
    }
    return [text for text, holds in said.items() if not holds]


def escape(text):
    return re.sub(r"([&%$#_{}])", r"\\\1", str(text)).replace("~", r"\textasciitilde{}")


def verdicts_of(rows):
    """'supported' if all agree, else each verdict with the letters that it is about."""
    found = {}
    for row in rows:
        found.setdefault(VERDICTS[row["verdict"]], []).append(re.sub(r"^\w\d+", "", row["id"]))
    if len(found) == 1:
        return next(iter(found))
    return ", ".join(f"{verdict} ({''.join(letters)})" for verdict, letters in found.items())


def claims_table(numbers, result):
    groups = {}
    for row in result.table.to_dict("records"):
        groups.setdefault(re.match(r"\w\d+", row["id"])[0], []).append(row)
    lines = [r"\begin{tabular}{@{}lp{0.595\textwidth}l@{}}", r"\toprule",
             r"claim & statement (the first, where a claim has several) & verdict \\", r"\midrule"]
    for name, rows in groups.items():
        letters = "".join(re.sub(r"^\w\d+", "", row["id"]) for row in rows)
        label = name if len(letters) < 2 else f"{name}{letters[0]}--{letters[-1]}"
        lines.append(f"{label} & {escape(rows[0]['statement'])} & {verdicts_of(rows)} \\\\")
    counts = result.table["verdict"].value_counts()
    numbers["Claims"] = str(len(result.table))
    for verdict, macro in (("supported", "Supported"), ("contradicted", "Contradicted"),
                           ("not-identified", "NotIdentified"), ("needs", "Needs")):
        numbers[f"Claims{macro}"] = str(counts.get(verdict, 0))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True, help="folder 'generated'")
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    numbers = {}
    try:
        shift = figlib.load("bottleneck_shift", None)
        published = published_numbers(numbers)
        shift_numbers(numbers, shift, published)
        moe_numbers(numbers, figlib.load("moe_idle", None))
        conversation = figlib.load("azure_conv", None)
        conversation_numbers(numbers, conversation)
        audit = figlib.load("claims", None)
        claims = claims_table(numbers, audit)
        wrong = prose_holds(shift.table, conversation.table, audit.table, published)
        if wrong:
            raise ValueError("the text says what no longer holds: " + "; ".join(wrong))
        figures = args.output / "figures"
        bottleneck_shift.make(None, figures)
        shutil.copy(figures / "bottleneck_shift.pdf", args.output / "bottleneck_shift.pdf")
        caption = escape((figures / "bottleneck_shift.caption.txt").read_text())
    except (figlib.MissingInput, ValueError, KeyError, OSError) as error:
        print(f"make_numbers.py: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    text = "".join(f"\\newcommand{{\\Num{name}}}{{{value}}}\n" for name, value in numbers.items())
    (args.output / "numbers.tex").write_text("% written by make_numbers.py\n" + text)
    (args.output / "claims.tex").write_text("% written by make_numbers.py\n" + claims)
    (args.output / "caption.tex").write_text(
        f"% written by make_numbers.py\n\\newcommand{{\\ShiftCaption}}{{{caption.strip()}}}\n")
    print(f"{len(numbers)} numbers, claims table, figure")
    return 0


if __name__ == "__main__":
    sys.exit(main())
