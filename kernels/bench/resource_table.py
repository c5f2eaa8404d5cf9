#!/usr/bin/python3
"""Registers, spills and shared memory of every kernel, from the assembler.

Compiles each .cu of the library for the given targets and writes a CSV. Dynamic shared memory comes
from `kernel_bench list`. No GPU needed.

    resource_table.py --kernel-bench build/kernels/kernel_bench [--output data/profiles/kernel_resources.csv]
"""
import argparse
import csv
import os
import re
import subprocess

SOURCES = ["extend_serial", "flatten_split", "split_scalar", "split_vector", "combine", "packed",
           "packed_combine"]
# The packed kernel is built for sm_90a (kernels/cuda_targets.cmake says why).
TARGETS = {"packed": ["sm_90a", "sm_120"]}
DEFAULT_TARGETS = ["sm_90", "sm_120"]
DYNAMIC = {"extend_kernel": "extend-serial", "flatten_kernel": "flatten-split",
           "packed_kernel": "packed"}


def kernel_name(mangled):
    for name, text in [("Lb1E", "<pair>"), ("Lb0E", "<solo>"), ("ScalarReader", "<scalar>"),
                       ("VectorReader", "<vector>")]:
        if name in mangled:
            suffix = text
            break
    else:
        suffix = ""
    base = re.search(r"\d+((?:extend|flatten|split|row_combine|packed|combine)_kernel|row_combine_kernel)",
                     mangled).group(1)
    if base == "combine_kernel":
        suffix = {"<pair>": "<bf16>", "<solo>": "<f32>"}.get(suffix, suffix)
    return base, base + suffix


def rows_of(root, source, target, dynamic):
    arch = target.replace("sm_", "compute_")
    done = subprocess.run(
        ["nvcc", "-O3", "-std=c++20", "--expt-relaxed-constexpr", "-Xptxas=-v", f"-I{root}", "-gencode",
         f"arch={arch},code={target}", "-c", f"{root}/kernels/verify_attention/{source}.cu", "-o",
         os.devnull], capture_output=True, text=True, check=True)
    for part in done.stderr.split("Compiling entry function '")[1:]:
        base, name = kernel_name(part.split("'")[0])
        stores, loads = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", part).groups()
        registers = re.search(r"Used (\d+) registers", part).group(1)
        static = re.search(r"(\d+) bytes smem", part)
        yield [name, target, registers, stores, loads, static.group(1) if static else "0",
               dynamic.get(DYNAMIC.get(base, ""), "0")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernel-bench", required=True)
    parser.add_argument("--output", default="data/profiles/kernel_resources.csv")
    options = parser.parse_args()
    root = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    listing = subprocess.run([options.kernel_bench, "list"], capture_output=True, text=True, check=True)
    dynamic = {line.split()[0]: line.split()[1] for line in listing.stdout.splitlines()}
    with open(options.output + ".tmp", "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["kernel", "target", "registers", "spill_store_bytes", "spill_load_bytes",
                         "static_shared_bytes", "dynamic_shared_bytes"])
        for source in SOURCES:
            for target in TARGETS.get(source, DEFAULT_TARGETS):
                for row in rows_of(root, source, target, dynamic):
                    # On sm_120 the pair kernel is a trap and never launched.
                    if not (target == "sm_120" and row[0] == "packed_kernel<pair>"):
                        writer.writerow(row)
    os.replace(options.output + ".tmp", options.output)
    print(open(options.output).read(), end="")


if __name__ == "__main__":
    main()
