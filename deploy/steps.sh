# shellcheck shell=bash disable=SC2034 # its variables are for those who source it
#
# What image-test and boot-test have in common; sourced by bash, not run.
#
# Each test prints one line per step. It is skipped, with a sentence and exit
# code 0, where a tool is missing; what fails ends it with exit code 1.

REPOSITORY=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/widgetd
ADDRESS=http://127.0.0.1:8787
CERTIFICATES=/etc/ssl/certs
CERTIFICATE_BUNDLE=$CERTIFICATES/ca-certificates.crt

# A failure is said even where the output of a step is thrown away.
exec 3>&2

skip() {
  echo "skipped: $*"
  exit 0
}

fail() {
  echo "FAILED: $*" >&3
  exit 1
}

# shown SENTENCE: one thing that was seen to hold.
shown() {
  printf 'ok  %s\n' "$*"
}

# needs_tools PACKAGE:PROGRAM…: skip unless each program is here.
needs_tools() {
  local missing=() pair
  for pair in "$@"; do
    command -v "${pair#*:}" >/dev/null || missing+=("${pair%%:*}")
  done
  ((${#missing[@]} == 0)) || skip "needs Debian's packages ${missing[*]}, which are not all here"
  ((EUID == 0)) || skip "needs root, to make namespaces and mounts"
}

# within SECONDS COMMAND…: run COMMAND until it succeeds, and fail after SECONDS.
within() {
  local seconds=$1 end
  shift
  end=$((SECONDS + seconds))
  until "$@" >/dev/null 2>&1; do
    ((SECONDS <= end)) || fail "not within $seconds s: $*"
    sleep 0.05
  done
}

# seconds_since EPOCHREALTIME: with two digits.
seconds_since() {
  local centiseconds=$(((${EPOCHREALTIME/./} - ${1/./}) / 10000))
  printf '%d.%02d' $((centiseconds / 100)) $((centiseconds % 100))
}

# is_refused MESSAGE COMMAND…: COMMAND must fail and say MESSAGE.
is_refused() {
  local message=$1 said
  shift
  ! said=$("$@" 2>&1) || fail "was not refused: $*"
  [[ $said == *"$message"* ]] || fail "was refused with another message: $* ($said)"
}

# show_that_it_asks_for TOKEN: nobody comes in without it.
show_that_it_asks_for() {
  local without with
  without=$(answer_to_hello)
  with=$(answer_to_hello -H "Authorization: Bearer $1")
  [[ $without == 401 ]] || fail "without a token it answers $without"
  [[ $with == 200 ]] || fail "with its token it answers $with"
  shown "without a token it answers 401, with its token 200"
}

# answer_to_hello CURL-ARGUMENT…: the HTTP status of a client's first request.
answer_to_hello() {
  curl --silent --output /dev/null --write-out '%{http_code}' "$@" \
    -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
    -d '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion":
         "2025-06-18", "capabilities": {}, "clientInfo": {"name": "curl", "version": "1"}}}' \
    "$ADDRESS/mcp"
}

# debian SUITE PACKAGE…: print the path of a tarball of SUITE with each PACKAGE; made once.
debian() {
  local suite=$1 packages tarball
  shift
  packages=$(IFS=, && echo "$*")
  tarball=$CACHE/$suite-$(cksum <<<"$packages" | cut -d' ' -f1).tar
  if [[ ! -s $tarball ]]; then
    mkdir -p "$CACHE"
    mmdebstrap --quiet --format=tar --variant=minbase --include="$packages" "$suite" "$tarball.part" >&2
    mv "$tarball.part" "$tarball"
  fi
  echo "$tarball"
}
