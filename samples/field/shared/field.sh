# Functions that the handlers in samples/field use: read JSON without a parser, log calls and write statuses. POSIX sh.
# Settings and paths in the tests contain no whitespace, so all whitespace is removed before a value is extracted.
set -eu

compact() { tr -d ' \n\r\t' < "$1"; }

# text KEY: prints the string value of a key in the JSON on stdin; empty if it is absent or null.
text() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

# runtime_settings SETTINGS_FILE: prints the settings. Handlers in the field ignore `handlerSettings` at the top level.
runtime_settings() { compact "$1" | sed -n 's/.*"runtimeSettings":\[{"handlerSettings":\({.*}\)}\].*/\1/p'; }

# decrypt KEY_FOLDER SETTINGS_FILE: prints the protected settings in plain text; empty if there are none.
decrypt() {
  sealed=$(runtime_settings "$2" | text protectedSettings)
  [ -n "$sealed" ] || return 0
  key=$1/$(runtime_settings "$2" | text protectedSettingsCertThumbprint)
  echo "$sealed" | openssl base64 -d -A |
    openssl cms -inform DER -decrypt -recip "$key.crt" -inkey "$key.prv"
}

# Prints the start of the SHA-256 of stdin, because secrets must be reported only as digests.
digest() { openssl dgst -sha256 -r | cut -c1-12; }

# called FACT…: logs a line that tests read: time, version from the agent, facts.
called() {
  echo "$(date +%s%N) $AZURE_GUEST_AGENT_EXTENSION_VERSION $*" >> "$log_folder/calls.log"
}

# write_status FILE WORD MESSAGE [SUBSTATUS]: handlers can set status_version, status_code and status_name first.
write_status() {
  cat > "$1.tmp" << STATUS
[{"version": ${status_version:-1.0}, "timestampUTC": "$(date -u +%Y-%m-%dT%H:%M:%SZ)", "status": {
  "name": "${status_name:-field}", "operation": "Enable", "status": "$2", "code": ${status_code:-0},
  "formattedMessage": {"lang": "en-US", "message": "$3"}, "substatus": [${4:-}]}}]
STATUS
  mv "$1.tmp" "$1"
}

# read_environment FOLDER: reads HandlerEnvironment.json in a folder and sets variables for the paths that it contains.
read_environment() {
  environment=$(compact "$1/HandlerEnvironment.json")
  case $environment in
    '[{'*'}]') ;;
    *) echo "HandlerEnvironment.json is not a list" >&2; exit 20 ;;
  esac
  log_folder=$(echo "$environment" | text logFolder)
  config_folder=$(echo "$environment" | text configFolder)
  status_folder=$(echo "$environment" | text statusFolder)
  heartbeat_file=$(echo "$environment" | text heartbeatFile)
}
