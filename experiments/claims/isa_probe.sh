#!/bin/sh
# Which instruction families the assembler accepts for which target, as CSV on standard output
# (data/profiles/isa_probe.csv; read by check isa-lacks). Needs ptxas of CUDA 13 or later; no GPU.
# sm_90a and sm_100a are the controls: wgmma exists on the first only, tcgen05 on the second only.
set -eu
ptxas=${1:-ptxas}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

body() {
  case $1 in
    wgmma) echo 'wgmma.fence.sync.aligned;' ;;
    tcgen05) echo 'tcgen05.fence::before_thread_sync;' ;;
    tma) echo 'cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes
               [%r0], [%rd0, {%r1, %r2}], [%r3];' ;;
  esac
}

echo instruction,target,assembles
for target in sm_90a sm_100a sm_120 sm_120a; do
  for instruction in wgmma tma tcgen05; do
    cat > "$work/probe.ptx" <<PTX
.version 9.0
.target $target
.address_size 64
.visible .entry probe() {
  .reg .b32 %r<4>;
  .reg .b64 %rd<1>;
  $(body $instruction)
  ret;
}
PTX
    if "$ptxas" -arch="$target" -o "$work/probe.cubin" "$work/probe.ptx" 2> "$work/errors"; then
      echo "$instruction,$target,yes"
    elif grep -q 'not supported on' "$work/errors"; then
      echo "$instruction,$target,no"
    else
      cat "$work/errors" >&2
      exit 1
    fi
  done
done
