#!/usr/bin/python3
"""Which instructions does the assembler accept for which target?

Assembles one tiny PTX kernel a feature and target with ptxas and writes a CSV: feature, one column a
target (yes, slow or no; "slow" when ptxas accepts but warns of much reduced performance) and what
ptxas said for the targets that refuse. Needs the CUDA toolkit, no GPU. What an assembler accepts is
evidence that the target has the instruction, not a measurement of it.

    isa_probe.py [--ptxas PATH] [--output data/profiles/isa_probe.csv]
"""
import argparse
import csv
import os
import re
import shutil
import subprocess
import tempfile

TARGETS = ["sm_90", "sm_90a", "sm_100a", "sm_120", "sm_120a"]

# Body of a kernel with parameters ptr (u64 global) and registers declared below; map is a pointer to
# a tensor map.
FEATURES = {
    "cp.async 16 B": "cp.async.cg.shared.global [%smem], [%ptr], 16;",
    "mbarrier try_wait": "mbarrier.try_wait.parity.shared.b64 %p, [%smem], 0;",
    "cp.async.bulk (1-D bulk copy)":
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%smem], [%ptr], 1152, [%smem];",
    "cp.async.bulk multicast":
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%smem], [%ptr], 1152, [%smem], %mask;",
    "cp.async.bulk.tensor (TMA tile load)":
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%smem], [%ptr, {%r0, %r1}], [%smem];",
    "TMA tile::gather4 to shared::cta":
        "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes "
        "[%smem], [%ptr, {%r0, %r1, %r2, %r3, %r4}], [%smem];",
    "TMA tile::scatter4":
        "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group "
        "[%ptr, {%r0, %r1, %r2, %r3, %r4}], [%smem];",
    "cluster barrier": "barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;",
    "mapa (distributed shared memory)": "mapa.shared::cluster.u32 %r0, %smem, %r1;",
    "ldmatrix": "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0,%r1,%r2,%r3}, [%smem];",
    "mma.sync m16n8k16 bf16":
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0,%f1,%f2,%f3}, "
        "{%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3};",
    "mma.sync block-scaled fp4 (mxf4nvf4)":
        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X"
        ".f32.e2m1.e2m1.f32.ue4m3 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, "
        "{%f0,%f1,%f2,%f3}, %r0, {0,0}, %r1, {0,0};",
    "wgmma":
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, %rd0, %rd1, "
        "1, 1, 1, 0, 0;",
    "tcgen05 (tensor memory)":
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%smem], 32;",
    "setmaxnreg": "setmaxnreg.inc.sync.aligned.u32 232;",
    "griddepcontrol (dependent launch)":
        "griddepcontrol.launch_dependents;\n griddepcontrol.wait;",
    "elect.sync": "elect.sync _|%p, 0xffffffff;",
    "redux.sync f32": "redux.sync.max.f32 %f0, %f1, 0xffffffff;",
}

TEMPLATE = """.version 9.0
.target {target}
.address_size 64
.visible .entry probe(.param .u64 pointer)
{{
 .reg .pred %p;
 .reg .b16 %mask;
 .reg .b32 %smem, %r<6>;
 .reg .b64 %ptr, %rd<2>;
 .reg .f32 %f<4>;
 .shared .align 128 .b8 memory[4096];
 ld.param.u64 %ptr, [pointer];
 mov.u32 %smem, memory;
 mov.b16 %mask, 3;
 mov.b32 %r0, 0; mov.b32 %r1, 0; mov.b32 %r2, 0; mov.b32 %r3, 0; mov.b32 %r4, 0; mov.b32 %r5, 0;
 mov.b64 %rd0, 0; mov.b64 %rd1, 0;
 mov.f32 %f0, 0f00000000; mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000;
 {body}
 ret;
}}
"""


def probe(ptxas, target, body, folder):
    source = os.path.join(folder, "probe.ptx")
    with open(source, "w") as out:
        out.write(TEMPLATE.format(target=target, body=body))
    done = subprocess.run([ptxas, f"--gpu-name={target}", source, "-o", os.path.join(folder, "probe.o")],
                          capture_output=True, text=True)
    text = done.stdout + done.stderr
    message = next((line for line in text.splitlines() if "error" in line or "Advisory" in line), "")
    message = re.sub(r"^.*?(error|warning)\s*:\s*", "", message).strip()
    if done.returncode != 0:
        return "no", message
    if "reduced performance" in text:
        return "slow", message
    return "yes", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ptxas", default=shutil.which("ptxas") or "ptxas")
    parser.add_argument("--output", default="data/profiles/isa_probe.csv")
    options = parser.parse_args()
    version = subprocess.run([options.ptxas, "--version"], capture_output=True, text=True).stdout
    release = re.search(r"V[0-9.]+", version)
    with tempfile.TemporaryDirectory() as folder, open(options.output + ".tmp", "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["feature"] + TARGETS + ["assembler", "message"])
        for feature, body in FEATURES.items():
            results = {t: probe(options.ptxas, t, body, folder) for t in TARGETS}
            said = sorted({f"{t}: {m}" for t, (_, m) in results.items() if m})
            writer.writerow([feature] + [results[t][0] for t in TARGETS] +
                            [f"ptxas {release.group(0) if release else 'unknown'}", "; ".join(said)])
    os.replace(options.output + ".tmp", options.output)
    print(open(options.output).read(), end="")


if __name__ == "__main__":
    main()
