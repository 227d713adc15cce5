# Functions that the hooks of the store share. Hooks run in the formula's folder. Needs POSIX sh and coreutils.
set -eu
umask 077

store="$ENSEMBLE_CONTAINER_PATH/store"

# password: prints the password of the store, and chooses one at the first call.
password() {
  mkdir -p "$store"
  [ -s "$store/password" ] || od -An -N16 -tx1 /dev/urandom | tr -d ' \n' > "$store/password"
  cat "$store/password"
}
