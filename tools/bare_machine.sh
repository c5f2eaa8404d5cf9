#!/usr/bin/env bash
# Runs ./check or ./reproduce on a Debian that has nothing but git. `--help` says more.
# shellcheck disable=SC2317  # `cleanup` and `inside` are called by name
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  cat <<'TEXT'
Usage: tools/bare_machine.sh bookworm|trixie [check|reproduce] [--offline-again] [--keep] [ARGUMENT...]

Makes a minimal Debian of that release with debootstrap in a scratch folder (TMPDIR, about 4 GB),
clones HEAD into it, without ../shared and into a path with a space, and runs the command there as
root, without a GPU. Package sources and apt's download settings are those of this machine.
Other ARGUMENTs go to the command. The log stays in build-bare/.

  --offline-again  afterwards runs it once more without a network: it must not need one
  --keep           leave the scratch folder for inspection (it has no mounts)
TEXT
}

die() {
  echo "bare_machine: $*" >&2
  exit 2
}

# The first URI of this machine's package sources that serves this release, or nothing.
source_uri() { # RELEASE
  # shellcheck disable=SC2016  # apt expands these
  apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
    awk -v release="$1" '$1 == release && !found++ { print $2 }'
}

# Writes apt's sources and download settings of this machine, for another release.
write_apt_settings() { # ROOTFS SUITE HOST-RELEASE
  local uri_security
  uri_security=$(source_uri "$3-security")
  {
    echo "deb $mirror $2 main"
    echo "deb $mirror $2-updates main"
    [ -z "$uri_security" ] || echo "deb $uri_security $2-security main"
  } >"$1/etc/apt/sources.list"
  # Proxies, certificates, dates; no hooks, which call programs of this machine.
  apt-config dump | grep '^Acquire::' >"$1/etc/apt/apt.conf.d/90host" || true
  # A scratch system need not survive a power cut; images of Debian for containers do the same.
  echo force-unsafe-io >"$1/etc/dpkg/dpkg.cfg.d/scratch"
  cp /etc/resolv.conf "$1/etc/resolv.conf"
}

# In namespaces of its own, so that mounts and processes end with it, however it ends.
inside() { # ROOTFS COMMAND...
  local rootfs=$1
  shift
  mount -t proc proc "$rootfs/proc"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$rootfs/dev/pts"
  mount -t tmpfs tmpfs "$rootfs/dev/shm"
  exec chroot "$rootfs" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    HOME=/srv LANG=C.UTF-8 SHELL=/bin/bash "$@" </dev/null
}

if [ "${1:-}" = --inside ]; then
  shift
  inside "$@"
fi

command=check
offline_again=no
keep=no
suite=""
arguments=()
for argument in "$@"; do
  case "$argument" in
    -h | --help) usage; exit 0 ;;
    bookworm | trixie) suite=$argument ;;
    check | reproduce) command=$argument ;;
    --offline-again) offline_again=yes ;;
    --keep) keep=yes ;;
    *) arguments+=("$argument") ;;
  esac
done
[ -n "$suite" ] || { usage >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || die "only root can make and enter another system (chroot, mount)"
command -v debootstrap >/dev/null || die "debootstrap is needed (package debootstrap)"
host_release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
mirror=$(source_uri "$host_release")
[ -n "$mirror" ] || die "no package source for this machine's release '$host_release' found"

cleanup() {
  if [ "$keep" = yes ]; then
    echo "bare_machine: left $scratch"
  else
    rm -rf --one-file-system "$scratch"
  fi
}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/shiftpoint-$suite.XXXXXX")
trap cleanup EXIT
trap 'exit 130' INT TERM

mkdir -p build-bare
log=$PWD/build-bare/$suite-$command.log
rootfs=$scratch/rootfs
tree="/srv/ship point"

say() {
  printf '== %s: %s (%d s)\n' "$suite" "$*" "$SECONDS" | tee -a "$log"
}

run_inside() { # WHAT UNSHARE-OPTION...
  local what=$1 begin=$SECONDS status=0
  shift
  say "$what"
  unshare --mount --pid --fork --kill-child --propagation private "$@" "$PWD/tools/bare_machine.sh" \
    --inside "$rootfs" \
    "$tree/$command" "${arguments[@]}" >>"$log" 2>&1 || status=$?
  tail -n 45 "$log"
  say "$what: status $status after $((SECONDS - begin)) s"
  return "$status"
}

: >"$log"
say "debootstrap"
debootstrap --variant=minbase --include=git,ca-certificates "$suite" "$rootfs" "$mirror" \
  >>"$log" 2>&1 || { tail -n 20 "$log"; die "debootstrap failed"; }
write_apt_settings "$rootfs" "$suite" "$host_release"
git clone --quiet --no-local "$PWD" "$rootfs$tree"
say "debootstrap done, $(git rev-parse --short HEAD) cloned to $tree"

run_inside "./$command ${arguments[*]}"
if [ "$offline_again" = yes ]; then
  run_inside "./$command ${arguments[*]} without a network" --net
fi
