# shellcheck shell=bash disable=SC2034  # sourced; the arrays are used by the two commands
# Debian and Ubuntu packages, by purpose: the only place that names them.

build_packages=(
  g++ cmake ninja-build git
  libboost-program-options-dev libeigen3-dev libfmt-dev librandom123-dev nlohmann-json3-dev
  libssl-dev zlib1g-dev catch2
  python3 python3-matplotlib python3-numpy python3-pandas
)

# The lessons are executed again by ./check.
check_packages=(python3-nbformat python3-nbclient python3-ipykernel)

# Style and static analysis are pinned to one LLVM release, because others format and warn
# differently; distributions without it skip both steps.
llvm_release=14
llvm_packages=("clang-format-$llvm_release" "clang-tidy-$llvm_release")

# texlive-latex-extra has the document class. No recommended packages: they would add half a
# gigabyte of fonts and documentation.
paper_packages=(latexmk texlive-latex-recommended texlive-latex-extra poppler-utils)

# True where the distribution ships that LLVM release.
distribution_has_llvm() {
  local ID="" VERSION_ID=""
  # shellcheck source=/dev/null
  [ -r /etc/os-release ] && . /etc/os-release
  case "$ID $VERSION_ID" in
    "debian 12" | "ubuntu 22.04") return 0 ;;
    *) return 1 ;;
  esac
}

# The program of that release, e.g. clang-format -> clang-format-14; fails where it is absent.
find_llvm() { # NAME
  local found
  found=$(command -v "$1-$llvm_release") || found=$(command -v "$1") || return 1
  "$found" --version | grep -q "version $llvm_release\." && echo "$found"
}
