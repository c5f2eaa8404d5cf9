#!/usr/bin/python3
"""Repeats the fit of the constants of sim/cost/attention_*.cpp to h200_attention_us.csv.

The formulas here follow those files for the H200 preset, 9 query tokens, 8 heads and equal
contexts. Prints, a variant, the constants of least squared relative error and the errors that they
leave, then the constants that the sources hold. Needs numpy.
"""
import csv
import itertools
import pathlib
import re

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
Q, HEADS, ROW, VALUE, FLOPS = 9, 8, 1152, 1024, 2 * 1088


def preset(path):
    pairs = (line.split("#")[0].split("=") for line in path.read_text().splitlines() if "=" in line)
    return {pair[0].strip(): float(pair[1]) for pair in pairs}


H = preset(ROOT / "data/hardware/h200-sxm.cfg")
SMS, KHZ = H["sms"], H["sm_clock_ghz"] * 1e3
LATENCY, GAP = H["dram_latency_us"], H["graph_node_gap_us"]
SM_L2 = H["l2_gbps"] * 1e3 / SMS
SM_MMA = H["mma_tflops"] * 1e6 / SMS
SM_FMA = H["fma_tflops"] * 1e6 / SMS


def up(a, b):
    return -(-int(a) // int(b))


def resident(shared, most):
    return max(1, min(most, int((H["shared_memory_per_block_bytes"] + 1024) // (shared + 1024))))


def makespan(blocks, together, tiles, chain, busy):
    of_sm = up(blocks, SMS)
    k = min(of_sm, together)
    rounds, rest = divmod(of_sm, k)
    return tiles * (rounds * max(chain, k * busy) + (max(chain, rest * busy) if rest else 0))


def total(floor, batch, n, l2_bytes, serial):
    dram = batch * (n + Q) * ROW / H["dram_read_gbps"] / 1e3
    return floor + max(dram, l2_bytes / H["l2_gbps"] / 1e3, serial)


def extend(batch, n, nsplit, cycles):
    busy = 32 * (ROW + VALUE) / SM_L2 + 32 * 32 * FLOPS / SM_MMA + cycles / KHZ
    blocks = batch * HEADS
    serial = makespan(blocks, resident(32 * 1152 + 32 * ROW + 4096, 24), up(n, 32) + 1,
                      2 * LATENCY + busy, busy)
    return total(GAP + 4 * LATENCY, batch, n, blocks * (n + Q) * (ROW + VALUE), serial)


def flatten(batch, n, nsplit, cycles, combine):
    busy = 32 * ROW / SM_L2 + 16 * 32 * FLOPS / SM_MMA + cycles / KHZ
    serial = makespan(batch * Q * nsplit, resident(16 * 1152 + 32 * ROW + 9216, 24),
                      up(up(n + Q, nsplit), 32), 2 * LATENCY + busy, busy)
    l2_bytes = batch * Q * ((n + Q) * ROW + HEADS * nsplit * 514 * 8)
    return total(2 * GAP + 6 * LATENCY + nsplit * combine / KHZ, batch, n, l2_bytes, serial)


def split_rows(batch, n, nsplit, together, combine, load_bytes):
    busy = 8 * ROW / SM_L2 + 8 * FLOPS / SM_FMA + 8 * ROW / load_bytes / 4 / KHZ
    blocks = batch * Q * HEADS
    serial = makespan(blocks * nsplit, resident(16384, together), (n + Q) / (8 * nsplit),
                      LATENCY + busy, busy)
    l2_bytes = blocks * ((n + Q) * ROW + nsplit * 514 * 8)
    return total(2 * GAP + 5 * LATENCY + nsplit * combine / KHZ, batch, n, l2_bytes, serial)


def packed(batch, n, nsplit, cycles, once):
    compute = 72 * 16 * FLOPS / SM_MMA + (cycles + 9.2 * 72) / KHZ
    tile = max(16 * ROW / SM_L2, compute)
    active = max(1, min(nsplit, up(n + Q, 32)))
    tiles = up(up(n + Q, active), 16)
    serial = max(makespan(batch * nsplit, 1, tiles * active / nsplit, tile, tile), tiles * tile)
    l2_bytes = batch * ((n + Q) * ROW + 2 * active * 72 * (1024 + 8))
    return total(2 * GAP + 6 * LATENCY + once / KHZ, batch, n, l2_bytes, serial)


def errors(points, model, constants):
    return np.array([model(b, n, s, *constants) / us - 1 for b, n, s, us in points])


def fit(points, model, grids):
    return min(itertools.product(*grids),
               key=lambda constants: np.mean(errors(points, model, constants) ** 2))


def report(name, points, model, constants, labels):
    found = errors(points, model, constants)
    print(f"{name}: {dict(zip(labels, constants))}, rms {np.sqrt(np.mean(found ** 2)):.3f}, "
          f"worst {found[np.argmax(np.abs(found))]:+.3f}")


def source_constant(file, name):
    text = (ROOT / "sim/cost" / file).read_text()
    return float(re.search(rf"{name} = ([0-9.]+);", text).group(1))


def main():
    points = {}
    with open(ROOT / "data/published/h200_attention_us.csv", newline="") as table:
        for row in csv.DictReader(table):
            points.setdefault(row["variant"], []).append(
                (int(row["batch"]), int(row["context_tokens"]), int(row["nsplit"]),
                 float(row["us"])))

    cycles = range(0, 9000, 50)
    best = fit(points["extend-serial"], extend, [cycles])
    report("extend-serial", points["extend-serial"], extend, best, ["cycles"])
    best = fit(points["flatten-split"], flatten, [range(0, 5000, 50), range(100, 1500, 50)])
    report("flatten-split", points["flatten-split"], flatten, best, ["cycles", "combine"])
    combine = best[1]
    both = {"split-scalar": 64, "split-vector": 512}

    def split_error(together):
        return np.mean(np.concatenate([
            errors(points[name], split_rows, (together, combine, load)) ** 2
            for name, load in both.items()]))

    together = min(range(1, 17), key=split_error)
    for name, load in both.items():
        report(name, points[name], split_rows, (together, combine, load),
               ["resident", "combine", "load bytes"])
    best = fit(points["packed"], packed, [range(0, 3000, 20), range(0, 8000, 100)])
    report("packed", points["packed"], packed, best, ["cycles", "once"])

    print("in the sources:")
    for file, name in (("attention_extend_serial.cpp", "kCyclesPerTile"),
                       ("attention_flatten_split.cpp", "kCyclesPerTile"),
                       ("attention_model.h", "kSerialCombineCyclesPerSplit"),
                       ("attention_split_rows.cpp", "kMostResident"),
                       ("attention_packed.cpp", "kCyclesPerTile"),
                       ("attention_packed.cpp", "kCyclesOnce")):
        print(f"  {file} {name} = {source_constant(file, name):g}")


if __name__ == "__main__":
    main()
