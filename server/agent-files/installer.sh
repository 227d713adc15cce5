#!/bin/sh
# Installs the Annex guest agent on this machine, or updates it, and enrolls the machine. `--help` lists the options.
# Changes nothing until all checks have passed and the downloaded files have the right checksums.
set -eu

gateway=@GATEWAY@
agent_version=@AGENT_VERSION@
agent_name=@AGENT_NAME@
agent_sha256=@AGENT_SHA256@
node_minimum=@NODE_MINIMUM@
node_version=@NODE_VERSION@
node_system=@NODE_SYSTEM@
node_name=@NODE_NAME@
node_sha256=@NODE_SHA256@
node_kib=@NODE_KIB@

unit=/etc/systemd/system/annex-agent.service
link=/usr/local/bin/annex-agent
dir=/var/lib/annex-agent
programs=
given_node=
token=${ANNEX_ENROLLMENT_TOKEN:-}
ca=
again=
dry_run=no
mode=service
problems=0
incoming=

usage() {
  cat <<END
Installs or updates the Annex guest agent $agent_version, and enrolls this machine at $gateway.

  curl -fsS $gateway/install | ANNEX_ENROLLMENT_TOKEN=... sh
  curl -fsS $gateway/install | ANNEX_ENROLLMENT_TOKEN=... sh -s -- [options]

  --token TOKEN      the enrollment token; other users of the machine can see it, unlike ANNEX_ENROLLMENT_TOKEN
  --token-file FILE  a file with the enrollment token
  --gateway URL      the gateway, if this machine reaches it at another address than $gateway
  --ca FILE          PEM file with the gateway's certificate authority, if this machine does not trust it
  --dir DIR          folder of the agent (default: /var/lib/annex-agent)
  --programs DIR     folder of Node and the agent's program (default: /opt/annex-agent; without a service, DIR/programs)
  --node FILE        the Node to use, $node_minimum or later (default: the gateway's, or the one in PATH)
  --again            enroll again and replace the identity of this machine
  --no-service       do not install a systemd service; print the command that runs the agent
  --foreground       do not install a systemd service; run the agent until it is stopped
  --only-programs    only install Node and the command annex-agent, for example for the forwarder of a stock agent
  --dry-run          check the machine and print what would be done
END
}

say() { printf '%s\n' "$*"; }

# Prints a word as the shell reads it.
quoted() {
  case $1 in
    *[!A-Za-z0-9/._-]*) printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")" ;;
    *) printf %s "$1" ;;
  esac
}

problem() {
  problems=$((problems + 1))
  printf '  - %s\n' "$*" >&2
}

fail() {
  printf 'The agent was not installed. %s\n' "$*" >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

read_options() {
  while [ $# -gt 0 ]; do
    case $1 in
      --token | --token-file | --gateway | --ca | --dir | --programs | --node)
        [ $# -ge 2 ] || fail "$1 needs a value. --help lists the options."
        case $1 in
          --token) token=$2 ;;
          --token-file)
            [ -r "$2" ] || fail "The token file $2 cannot be read. Check --token-file."
            token=$(cat "$2")
            ;;
          --gateway) gateway=${2%/} ;;
          --ca)
            grep -q 'BEGIN CERTIFICATE' "$2" 2>/dev/null || fail "$2 is not a readable PEM file. Check --ca."
            ca=$2
            ;;
          --dir) dir=$2 ;;
          --programs) programs=$2 ;;
          --node) given_node=$2 ;;
        esac
        shift
        ;;
      --again) again=--again ;;
      --no-service) mode='command' ;;
      --foreground) mode='foreground' ;;
      --only-programs) mode='programs' ;;
      --dry-run) dry_run=yes ;;
      --help | -h)
        usage
        exit 0
        ;;
      *) fail "There is no option $1. --help lists the options." ;;
    esac
    shift
  done
  case $dir in /*) ;; *) dir=$(pwd)/$dir ;; esac
  [ -n "$programs" ] || case $mode in
    service | programs) programs=/opt/annex-agent ;;
    *) programs=$dir/programs ;;
  esac
  case $programs in /*) ;; *) programs=$(pwd)/$programs ;; esac
}

# Downloads $1 to the file $2.
fetch() {
  if has curl; then
    curl -fsS ${ca:+--cacert "$ca"} --connect-timeout 10 --retry 2 -o "$2" "$1"
  else
    wget -q ${ca:+--ca-certificate "$ca"} -T 30 -O "$2" "$1"
  fi
}

is_right() { printf '%s  %s\n' "$2" "$1" | sha256sum -c - >/dev/null 2>&1; }

# Prints the system as Node names it, for example linux-x64.
system_of_machine() {
  case $(uname -m) in
    x86_64 | amd64) architecture=x64 ;;
    aarch64 | arm64) architecture=arm64 ;;
    *) architecture=$(uname -m) ;;
  esac
  printf '%s-%s' "$(uname -s | tr '[:upper:]' '[:lower:]')" "$architecture"
}

# Whether the program $1 is a supported version of Node.
is_node() {
  found=$("$1" --version 2>/dev/null) || return 1
  case $found in v[0-9]*.[0-9]*) found=${found#v} ;; *) return 1 ;; esac
  major=${found%%.*}
  minor=${found#*.}
  minor=${minor%%.*}
  [ "$major" -gt "${node_minimum%%.*}" ] ||
    { [ "$major" -eq "${node_minimum%%.*}" ] && [ "$minor" -ge "${node_minimum#*.}" ]; }
}

# Chooses the Node that runs the agent: `served` for the gateway's, or the path of a program.
choose_node() {
  system=$(system_of_machine)
  if [ -n "$given_node" ]; then
    is_node "$given_node" || problem "$given_node is not Node $node_minimum or later. Check --node."
    node=$given_node
  elif [ "$system" = "$node_system" ] && ! lacks_glibc; then
    node=served
  elif has node && is_node node; then
    node=$(command -v node)
  else
    node=
    problem "The agent needs Node $node_minimum or later for $system. The gateway has Node $node_version for $node_system with glibc only, and PATH ($PATH) has no suitable node. Install Node $node_minimum or later, or name it with --node."
  fi
}

# Whether this machine cannot run the gateway's Node, which is built for glibc.
lacks_glibc() {
  for loader in /lib64/ld-linux-*.so.* /lib/ld-linux-*.so.*; do [ ! -e "$loader" ] || return 1; done
}

# Prints the nearest folder above $1 that exists.
existing() {
  at=$1
  while [ ! -d "$at" ]; do at=$(dirname "$at"); done
  printf '%s' "$at"
}

check_space() {
  needed=20480
  if [ "$node" = served ] && ! is_right "$programs/node" "$node_sha256"; then needed=$((needed + node_kib)); fi
  free=$(df -Pk "$(existing "$programs")" 2>/dev/null | tail -n 1 | tr -s ' ' | cut -d ' ' -f 4)
  case $free in '' | *[!0-9]*) return 0 ;; esac
  [ "$free" -ge "$needed" ] ||
    problem "$(existing "$programs") has $((free / 1024)) MiB of free space, and the agent needs $((needed / 1024)) MiB. Free some space, or choose another folder with --programs."
}

check_folders() {
  for folder in "$programs" "$dir"; do
    [ -w "$(existing "$folder")" ] ||
      problem "$(id -un) cannot write to $(existing "$folder"). Run the installer as root, or choose folders with --dir and --programs."
  done
}

check_service() {
  case $mode in service | programs) ;; *) return 0 ;; esac
  [ "$(id -u)" = 0 ] ||
    problem "Only root can install the service and $link. Run this as root, for example with 'sudo -E sh' instead of 'sh'. Without a service, use --no-service and --dir."
  [ $mode = service ] || return 0
  { [ -d /run/systemd/system ] && has systemctl; } ||
    problem "systemd is not running on this machine. Use --foreground or --no-service, and have the agent started by your own service manager."
}

check_token() {
  [ $mode != programs ] || return 0
  if is_enrolled && [ -z "$again" ]; then return 0; fi
  [ -n "$token" ] || {
    problem "There is no enrollment token. Create one on the VM's page, and set ANNEX_ENROLLMENT_TOKEN for sh."
    return 0
  }
  case $token in
    annex_enroll_*[!A-Za-z0-9_-]*) ;;
    annex_enroll_???????????????????????????????????????????) return 0 ;;
  esac
  problem "The enrollment token is incomplete. It has 56 characters and starts with annex_enroll_. Copy it again."
}

check_gateway() {
  has curl || has wget || return 0
  fetch "$gateway/healthz" /dev/null 2>/dev/null && return 0
  case $gateway in
    http://localhost | http://localhost:* | http://127.* | http://\[::1\]*)
      problem "No gateway responds at $gateway, which is an address of this machine only. Set ANNEX_GATEWAY_URL where Annex runs, or pass --gateway with an address that this machine can reach."
      ;;
    *)
      problem "No gateway responds at $gateway. Check the network, the firewall, the proxy and the certificate; if its authority is private, pass --ca: $(fetch "$gateway/healthz" /dev/null 2>&1 | tail -n 1)"
      ;;
  esac
}

is_enrolled() { [ -s "$dir/credential" ]; }

check_machine() {
  [ "$(uname -s)" = Linux ] || problem "This machine runs $(uname -s). The agent needs Linux."
  has curl || has wget || problem "Neither curl nor wget is installed. Install one of them."
  has sha256sum || problem "sha256sum is not installed. It is in the package coreutils."
  choose_node
  check_folders
  check_space
  check_service
  check_token
  check_gateway
  [ $problems = 0 ] || fail "Nothing was changed. Correct the problems above ($problems), and run the installer again."
}

warn_of_plain_http() {
  case $gateway in
    http://localhost | http://localhost:* | http://127.* | http://\[::1\]* | https:*) ;;
    *) say "Warning: $gateway is not encrypted. Others on the network can read the credential and change what is installed and run here. Use an https address." >&2 ;;
  esac
}

print_plan() {
  say "All checks passed. Without --dry-run, the installer would:"
  [ "$node" != served ] || say "  - download Node $node_version ($node_system) to $programs/node"
  say "  - download the agent $agent_version to $programs/annex-agent.mjs"
  if [ $mode = programs ]; then
    say "  - write the command $link"
  elif is_enrolled && [ -z "$again" ]; then
    say "  - keep the identity in $dir"
  else
    say "  - enroll this machine at $gateway, with the agent's folder $dir"
  fi
  case $mode in
    service) say "  - write $unit and $link, and start the service annex-agent" ;;
    command) say "  - print the command that runs the agent" ;;
    foreground) say "  - run the agent until it is stopped" ;;
  esac
}

# Downloads the file $1 to $2 and checks that its SHA-256 is $3.
download() {
  fetch "$gateway/install/$1" "$2" || fail "$1 could not be downloaded from $gateway. Nothing was changed. Run the installer again."
  is_right "$2" "$3" ||
    fail "The checksum of $1 is wrong: the file was damaged or changed on the way, or Annex was just updated. Nothing was changed. Run the installer again."
}

# Removes the downloads, and folders that are still empty.
clean_up() {
  rm -rf "$incoming"
  rmdir "$programs" "$dir" 2>/dev/null || true
}

download_programs() {
  if [ $mode = command ] || [ $mode = foreground ]; then (umask 077 && mkdir -p "$dir"); fi
  (umask 022 && mkdir -p "$programs")
  incoming=$(mktemp -d "$programs/incoming.XXXXXX")
  trap clean_up EXIT
  trap 'exit 130' HUP INT TERM
  say "Downloading the agent $agent_version ..."
  download "$agent_name" "$incoming/annex-agent.mjs" "$agent_sha256"
  runtime=$node
  if [ "$node" = served ]; then
    runtime=$programs/node
    if ! is_right "$programs/node" "$node_sha256"; then
      say "Downloading Node $node_version ($((node_kib / 1024)) MiB) ..."
      download "$node_name" "$incoming/node" "$node_sha256"
      chmod 755 "$incoming/node"
      runtime=$incoming/node
    fi
  fi
  chmod 755 "$incoming/annex-agent.mjs"
  answer=$("$runtime" "$incoming/annex-agent.mjs" --version 2>&1 </dev/null) ||
    fail "The agent does not run with $([ "$node" = served ] && printf 'Node %s of the gateway' "$node_version" || printf %s "$node") on this machine. Nothing was changed. Name another Node with --node. The error: $answer"
}

replace_programs() {
  if [ -e "$incoming/node" ]; then mv -f "$incoming/node" "$programs/node"; fi
  mv -f "$incoming/annex-agent.mjs" "$programs/annex-agent.mjs"
  if [ "$node" = served ]; then node=$programs/node; fi
}

agent() { "$node" "$programs/annex-agent.mjs" "$@" </dev/null; }

enroll() {
  if is_enrolled && [ -z "$again" ]; then
    # The file can be the agent's own copy.
    if [ -n "$ca" ]; then
      cat "$ca" >"$dir/ca.pem.next"
      mv -f "$dir/ca.pem.next" "$dir/ca.pem"
    fi
    if [ -n "$token" ]; then say "This machine is already enrolled, so the token was not used. To enroll again, add --again."; fi
    return 0
  fi
  if [ $mode = service ]; then systemctl stop annex-agent 2>/dev/null || true; fi
  # shellcheck disable=SC2086 # $again is empty or one word.
  ANNEX_ENROLLMENT_TOKEN=$token agent enroll --portal "$gateway" --dir "$dir" ${ca:+--ca "$ca"} $again >/dev/null ||
    {
      say "The agent is installed, but the machine is not enrolled; the reason is above. Correct it, and run the installer again." >&2
      exit 1
    }
  say "The machine is enrolled at $gateway."
}

write_command() {
  cat >"$incoming/command" <<END
#!/bin/sh
exec $(quoted "$node") $(quoted "$programs/annex-agent.mjs") "\$@"
END
  chmod 755 "$incoming/command"
  mv -f "$incoming/command" "$link"
}

start_service() {
  write_command
  agent install-unit --write "$unit" --dir "$dir" >/dev/null
  systemctl daemon-reload
  systemctl enable --quiet annex-agent
  systemctl restart annex-agent
  say "The service annex-agent is running the agent $agent_version."
  say "Log:    journalctl -u annex-agent, or $dir/logs/agent.log"
  say "Check:  annex-agent doctor --dir $(quoted "$dir")"
}

main() {
  read_options "$@"
  unset ANNEX_ENROLLMENT_TOKEN
  check_machine
  warn_of_plain_http
  if [ $dry_run = yes ]; then
    print_plan
    exit 0
  fi
  download_programs
  replace_programs
  if [ $mode = programs ]; then
    write_command
    say "The command annex-agent $agent_version is installed."
    exit 0
  fi
  enroll
  case $mode in
    service) start_service ;;
    command)
      say "The agent $agent_version is installed. Run it with:"
      say "  $(quoted "$node") $(quoted "$programs/annex-agent.mjs") run --dir $(quoted "$dir")"
      say "Log:    $dir/logs/agent.log"
      ;;
    foreground)
      say "The agent $agent_version is running. Log: $dir/logs/agent.log"
      clean_up
      trap - EXIT HUP INT TERM
      exec "$node" "$programs/annex-agent.mjs" run --dir "$dir" </dev/null
      ;;
  esac
}

main "$@"
