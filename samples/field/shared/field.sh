# Shared by the handlers in this folder: JSON without a parser, a line for each call, a status file. POSIX sh.
# Settings and paths in the tests have no blanks, so blanks can be dropped before a value is cut out.
set -eu

compact() { tr -d ' \n\r\t' < "$1"; }

# text KEY: the string value of a key in the JSON on stdin, empty when it is absent or null.
text() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

# Handlers in the field read this path alone; the settings at the top of the file mean nothing to them.
runtime_settings() { compact "$1" | sed -n 's/.*"runtimeSettings":\[{"handlerSettings":\({.*}\)}\].*/\1/p'; }

# decrypt KEY_FOLDER SETTINGS_FILE: the protected settings in plain text, empty when there are none.
decrypt() {
  sealed=$(runtime_settings "$2" | text protectedSettings)
  [ -n "$sealed" ] || return 0
  key=$1/$(runtime_settings "$2" | text protectedSettingsCertThumbprint)
  echo "$sealed" | openssl base64 -d -A |
    openssl cms -inform DER -decrypt -recip "$key.crt" -inkey "$key.prv"
}

# A secret may be shown as a digest only.
digest() { openssl dgst -sha256 -r | cut -c1-12; }

# called FACT…: one line in the log folder, which tests read: time, version as the agent states it, facts.
called() {
  echo "$(date +%s%N) $AZURE_GUEST_AGENT_EXTENSION_VERSION $*" >> "$log_folder/calls.log"
}

# write_status FILE WORD MESSAGE [SUBSTATUS]; version and code as the handler's own language writes them.
write_status() {
  cat > "$1.tmp" << STATUS
[{"version": ${status_version:-1.0}, "timestampUTC": "$(date -u +%Y-%m-%dT%H:%M:%SZ)", "status": {
  "name": "${status_name:-field}", "operation": "Enable", "status": "$2", "code": ${status_code:-0},
  "formattedMessage": {"lang": "en-US", "message": "$3"}, "substatus": [${4:-}]}}]
STATUS
  mv "$1.tmp" "$1"
}

# The folders of HandlerEnvironment.json in a folder.
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
