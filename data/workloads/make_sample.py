#!/usr/bin/python3
"""Writes sample_azure.csv and sample_mooncake.jsonl: small made-up traces in two public formats.

For the README's example, smoke experiments and tests. Every number comes from the linear congruential
generator below; nothing is copied from a real trace. Run it in this folder to make the files again.
"""
import json


class Lcg:
    """Park and Miller's minimal standard generator: the same numbers everywhere."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = self.state * 48271 % 2147483647
        return self.state % n


def azure(path, rows):
    draw = Lcg(20231116)
    ticks = 0  # 100 ns, the format's resolution
    with open(path, "w", encoding="ascii", newline="") as out:
        out.write("TIMESTAMP,ContextTokens,GeneratedTokens\n")
        for _ in range(rows):
            seconds, fraction = divmod(ticks, 10_000_000)
            minutes, seconds = divmod(seconds, 60)
            out.write(f"2023-11-16 18:{minutes:02d}:{seconds:02d}.{fraction:07d},"
                      f"{100 + draw.below(1900)},{20 + draw.below(300)}\n")
            ticks += 1_000_000 + draw.below(9_000_000)  # gaps of 0.1 to 1 s


def mooncake(path, rows):
    draw = Lcg(2024)
    next_block = 1
    with open(path, "w", encoding="ascii") as out:
        for row in range(rows):
            tokens = 1000 + draw.below(20000)
            blocks = [0]  # one block that every request shares, as a system prompt would be
            while len(blocks) < -(-tokens // 512):
                blocks.append(next_block)
                next_block += 1
            out.write(json.dumps({"timestamp": row // 2 * 3000, "input_length": tokens,
                                  "output_length": 50 + draw.below(400),
                                  "hash_ids": blocks}) + "\n")


if __name__ == "__main__":
    azure("sample_azure.csv", 120)
    mooncake("sample_mooncake.jsonl", 40)
