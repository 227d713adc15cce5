# Functions that all sample handlers use: folders, settings, status and heartbeat. Needs POSIX sh, sed and coreutils.
# The agent runs commands in the handler's root, which contains HandlerEnvironment.json.
set -eu
umask 077

fail() {
  echo "$1" >&2
  exit "${2:-1}"
}

# environment_value NAME: prints a value. Reads the file up to five times, because the agent may be writing it.
environment_value() {
  for _ in 1 2 3 4 5; do
    value=$(sed -n "s/.*\"$1\": *\"\\([^\"]*\\)\".*/\\1/p" HandlerEnvironment.json 2>/dev/null | head -n 1)
    if [ -n "$value" ]; then
      echo "$value"
      return
    fi
    sleep 0.2
  done
  fail "HandlerEnvironment.json does not name $1." 3
}

log_folder=$(environment_value logFolder)
config_folder=$(environment_value configFolder)
status_folder=$(environment_value statusFolder)
heartbeat_file=$(environment_value heartbeatFile)

log() {
  echo "$*"
  echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) $*" >> "$log_folder/handler.log"
}

# The settings file with the highest number is current.
sequence=$(ls "$config_folder" | sed -n 's/^\([0-9][0-9]*\)\.settings$/\1/p' | sort -n | tail -n 1)

# setting NAME DEFAULT: prints a text, number or boolean from the settings. Reads flat settings only.
setting() {
  value=$(tr ',{}' '\n\n\n' < "$config_folder/$sequence.settings" |
    sed -n "s/^ *\"$1\": *\"\\{0,1\\}\\([^\"]*\\)\"\\{0,1\\} *\$/\\1/p" | head -n 1)
  echo "${value:-$2}"
}

# quoted TEXT: prints a text escaped for a JSON string, without control characters.
quoted() {
  printf '%s' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g' | tr -d '\000-\037'
}

# write_file PATH: writes stdin to a file atomically.
write_file() {
  cat > "$1.next"
  mv "$1.next" "$1"
}

# message ID PARAM…: prints the id with its params, for portals that look it up, and the English text of the resource
# file, for agents that drop message ids.
message() {
  id=$1
  shift
  text=$(sed -n "s/^$id	//p" messages.en)
  params=
  index=0
  for param; do
    params="$params${params:+, }\"$(quoted "$param")\""
    case "$text" in
      *"{$index}"*) text="${text%%"{$index}"*}$param${text#*"{$index}"}" ;;
    esac
    index=$((index + 1))
  done
  printf '"message": { "id": "%s", "params": [%s] }, "formattedMessage": { "lang": "en", "message": "%s" }' \
    "$id" "$params" "$(quoted "$text")"
}

# write_status WORD OPERATION CODE MESSAGE [SUBSTATUSES]: MESSAGE is the output of message; SUBSTATUSES are outputs of
# substatus, separated by commas.
write_status() {
  write_file "$status_folder/$sequence.status" << STATUS
[{ "version": 1.0, "timestampUTC": "$(date -u +%Y-%m-%dT%H:%M:%SZ)", "status": {
  "name": "${ANNEX_EXTENSION:-sample}", "operation": "$2", "status": "$1", "code": $3,
  "configurationAppliedTime": "$(date -u +%Y-%m-%dT%H:%M:%SZ)",
  $4,
  "substatus": [${5:-}] } }]
STATUS
}

# substatus NAME WORD CODE ID PARAM…: prints a substatus with a message.
substatus() {
  name=$1 word=$2 code=$3
  shift 3
  printf '{ "name": "%s", "status": "%s", "code": %s, %s }' "$name" "$word" "$code" "$(message "$@")"
}

# write_heartbeat WORD CODE TEXT
write_heartbeat() {
  write_file "$heartbeat_file" << HEARTBEAT
[{ "version": 1.0, "heartbeat": { "status": "$1", "code": $2, "message": "$3" } }]
HEARTBEAT
}

# Prints the folder of the replaced version. The stock agent states only its version.
previous_root() {
  echo "${ANNEX_PREVIOUS_ROOT:-${PWD%-*}-${AZURE_GUEST_AGENT_UPDATING_FROM_VERSION:-none}}"
}

# pause SECONDS: waits in a way that a signal can interrupt.
pause() {
  sleep "$1" &
  napping=$!
  wait "$napping" || true
}

# For a background process: on SIGTERM or SIGINT, it ends its pause and exits, so that no process is left behind.
end_with_signal() {
  napping=
  trap 'if [ -n "$napping" ]; then kill "$napping" 2>/dev/null || true; fi; exit 0' TERM INT
}

is_running() {
  [ -s run/service.pid ] && kill -0 "$(cat run/service.pid)" 2>/dev/null
}

# start_service SCRIPT: ends an earlier background process, starts the script as a new one and stores its process id.
start_service() {
  stop_service
  mkdir -p run
  sh "$@" > "$log_folder/service.log" 2>&1 &
  echo $! > run/service.pid
  log "Service started."
}

stop_service() {
  if is_running; then
    service=$(cat run/service.pid)
    kill "$service" 2>/dev/null || true
    for _ in 1 2 3 4 5 6 7 8 9 10; do
      kill -0 "$service" 2>/dev/null || break
      sleep 0.1
    done
    kill -9 "$service" 2>/dev/null || true
    log "Service stopped."
  fi
  rm -f run/service.pid
}
