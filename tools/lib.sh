# shellcheck shell=bash disable=SC2034,SC2154  # sourced; variables cross between files
# Shared by ./check and ./reproduce: steps with a log each, the table at the end, packages, and the
# build. A caller stands in the source tree and sets `log_dir` (an existing folder) first.
#
# A step is a function or command that says what it did on stdout (kept in its log), may set
# `step_note` (a few words for the table), and returns its status. `set -e` is not used here: a
# function called in a condition would silently lose it. Steps chain with && instead.

step_names=()
step_results=()
step_seconds=()
step_notes=()
step_note=""
steps_failed=0
heartbeat_pid=""
log_tail_lines=${CI:+200} # where the logs are gone afterwards
: "${log_tail_lines:=40}"

say() {
  printf '[%4d s] %s\n' "$SECONDS" "$*"
}

record_step() { # NAME RESULT SECONDS NOTE
  step_names+=("$1")
  step_results+=("$2")
  step_seconds+=("$3")
  step_notes+=("$4")
}

# Prints the last line of the log once a minute, so that a long step does not look hung.
# `read -t` on a pipe that never ends instead of `sleep`: no process outlives the step.
heartbeat() { # LOG
  local never
  exec {never}<> <(:)
  while true; do
    read -r -t 60 -u "$never" _
    say "    $(tail -c 2000 "$1" | tr '\r' '\n' | grep -a . | tail -n 1 | cut -c 1-90)"
  done
}

stop_heartbeat() {
  [ -n "$heartbeat_pid" ] || return 0
  kill "$heartbeat_pid" 2>/dev/null
  wait "$heartbeat_pid" 2>/dev/null
  heartbeat_pid=""
}
trap stop_heartbeat EXIT
trap 'exit 130' INT TERM

run_step() { # NAME COMMAND...
  local name=$1 log begin=$SECONDS status=0
  shift
  log=$log_dir/$(printf '%02d' $((${#step_names[@]} + 1)))-${name//[^A-Za-z0-9]/-}.log
  say "$name"
  step_note=""
  heartbeat "$log" 2>/dev/null &
  heartbeat_pid=$!
  "$@" >"$log" 2>&1 </dev/null || status=$?
  stop_heartbeat
  if [ "$status" -eq 0 ]; then
    record_step "$name" ok $((SECONDS - begin)) "$step_note"
    say "    ok, $((SECONDS - begin)) s${step_note:+ ($step_note)}"
  else
    steps_failed=$((steps_failed + 1))
    record_step "$name" FAILED $((SECONDS - begin)) "${step_note:-status $status}"
    say "    FAILED: $name, status $status; the first errors and the last lines of $log:"
    {
      grep -aE 'error:|Error |FAILED' "$log" | head -n 12
      echo ...
      tail -n "$log_tail_lines" "$log"
    } | cut -c 1-300 | sed 's/^/    | /'
  fi
  return "$status"
}

skip_step() { # NAME REASON
  record_step "$1" skipped 0 "$2"
  say "$1: skipped ($2)"
}

print_table() {
  local i
  printf '\n%-28s %-8s %8s  %s\n' step result seconds note
  printf '%-28s %-8s %8s  %s\n' ---------------------------- -------- -------- ----
  for i in "${!step_names[@]}"; do
    printf '%-28s %-8s %8d  %s\n' "${step_names[i]}" "${step_results[i]}" "${step_seconds[i]}" \
      "${step_notes[i]}"
  done
  printf '%-28s %-8s %8d\n' total "" "$SECONDS"
}

# --- packages -------------------------------------------------------------------------------------

missing_packages() { # PACKAGE... -> those that are not installed, one a line
  local package
  for package in "$@"; do
    case "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" in
      installed*) ;;
      *) printf '%s\n' "$package" ;;
    esac
  done
}

# Sets as_root to what must stand before a command that changes the system.
become_root() {
  as_root=()
  [ "$(id -u)" -eq 0 ] && return 0
  command -v sudo >/dev/null || return 1
  as_root=(sudo)
  if [ -t 0 ]; then sudo -v; else sudo -n true 2>/dev/null; fi
}

apt_install() { # PACKAGE...
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120)
  # Old package lists may still do where the update fails, so that the install decides.
  "${apt[@]}" update || echo "The package lists could not be updated; going on with the old ones."
  "${apt[@]}" install -y --no-install-recommends "$@" &&
    step_note="$# installed"
}

# Installs what is missing of its arguments; nothing is asked of the network when nothing is.
packages_step() { # PACKAGE...
  local missing
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    skip_step packages "no apt-get here"
    say "    Please see to it that these are installed (Debian's names): $*"
    return 0
  fi
  mapfile -t missing < <(missing_packages "$@")
  if [ "${#missing[@]}" -eq 0 ]; then
    record_step packages ok 0 "all $# present"
    say "packages: all $# present"
    return 0
  fi
  say "packages: ${#missing[@]} missing: ${missing[*]}"
  if [ "${install:-yes}" = no ]; then
    skip_step packages "--no-install; missing: ${missing[*]}"
    return 0
  fi
  if ! become_root; then
    record_step packages FAILED 0 "neither root nor sudo"
    steps_failed=$((steps_failed + 1))
    say "    FAILED: neither root nor sudo is available. Have somebody run"
    say "    apt-get install --no-install-recommends ${missing[*]}"
    say "    or go on with what is there: --no-install"
    return 1
  fi
  run_step packages apt_install "${missing[@]}"
}

# --- the source tree --------------------------------------------------------------------------------

# The tree's own files that match one of the patterns, NUL-separated: what git tracks or would add;
# in an unpacked archive everything but build folders.
tree_files() { # PATTERN...
  local pattern file names=()
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files -z --cached --others --exclude-standard -- "$@"
  else
    for pattern in "$@"; do
      names+=(-o -path "./$pattern")
    done
    find . -path './build*' -prune -o -type f \( "${names[@]:1}" \) -printf '%P\0'
  fi | while IFS= read -r -d '' file; do
    if [ -e "$file" ]; then printf '%s\0' "$file"; fi # git also lists what was just deleted
  done
}

# --- build ----------------------------------------------------------------------------------------

# Debian's Python packages live with Debian's interpreter, whatever else is first on PATH.
find_python() {
  if [ -x /usr/bin/python3 ]; then echo /usr/bin/python3; else command -v python3; fi
}

# The compiler of the CUDA toolkit, if it is new enough for sm_120 (12.8).
find_nvcc() {
  local nvcc version
  nvcc=$(command -v nvcc) || nvcc=${CUDA_HOME:-/usr/local/cuda}/bin/nvcc
  [ -x "$nvcc" ] || return 1
  version=$("$nvcc" --version | sed -n 's/.*release \([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
  # shellcheck disable=SC2086  # two words
  set -- $version
  [ $((${1:-0} * 100 + ${2:-0})) -ge 1208 ] && echo "$nvcc"
}

has_gpu() {
  command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU'
}

# Sets preset to cuda where a toolkit is found and to cpu elsewhere.
choose_preset() {
  local nvcc
  if nvcc=$(find_nvcc); then
    preset=cuda
    export CUDACXX=$nvcc
  else
    preset=cpu
  fi
}

configure_step() { # PRESET CMAKE-ARGUMENT...
  local arguments=()
  # A folder made with another generator keeps it: CMake refuses to change it.
  if command -v ninja >/dev/null && [ ! -e "build-$1/CMakeCache.txt" ]; then
    arguments+=(-G Ninja)
  fi
  if command -v ccache >/dev/null; then
    arguments+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  cmake --preset "$1" "${arguments[@]}" "${@:2}"
}
