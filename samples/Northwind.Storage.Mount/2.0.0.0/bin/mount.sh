#!/bin/sh
# Simulates mounting a share with the password in its protected settings. Decrypts them with openssl and the machine's
# key, and keeps the password only in a variable: it is never written to disk.
. ./bin/handler.sh

protected_settings() {
  settings="$config_folder/$sequence.settings"
  flat=$(tr -d '\n' < "$settings")
  sealed=$(printf '%s' "$flat" | sed -n 's/.*"protectedSettings": *"\([^"]*\)".*/\1/p')
  thumbprint=$(printf '%s' "$flat" | sed -n 's/.*"protectedSettingsCertThumbprint": *"\([^"]*\)".*/\1/p')
  [ -n "$sealed" ] || return 0
  printf '%s' "$sealed" | base64 -d |
    openssl cms -decrypt -inform DER -inkey "${ANNEX_CERTIFICATE_FOLDER:-..}/$thumbprint.prv" 2>/dev/null
}

enable() {
  server=$(setting server files.example.net)
  user=$(setting user backup)
  password=$(protected_settings | tr -d '\n' | sed -n 's/.*"password": *"\([^"]*\)".*/\1/p')
  if [ -z "$password" ]; then
    write_status error "Mount share" 52 "$(message Error_NoPassword "$user")"
    fail "No password for $user could be read from the protected settings." 52
  fi
  if [ "$(setting reachable true)" = false ]; then
    write_status error "Mount share" 12 "$(message 1215 "$server" "$user")" \
      "$(substatus resolve success 0 name_resolved "$server"), $(substatus connect error 12 1215 "$server" "$user")"
    echo "Connecting to $server as $user"
    fail "mount: connection to $server refused" 51
  fi
  mkdir -p state
  echo "$server" > state/mounted
  write_status success "Mount share" 0 "$(message share_mounted "$server" "$user")" \
    "$(substatus resolve success 0 name_resolved "$server"), $(substatus connect success 0 share_mounted "$server" "$user")"
  log "Share of $server mounted as $user."
}

case "${1:-}" in
  install) log "Mount installed." ;;
  update)
    cp -R "$(previous_root)/state" . 2>/dev/null || true
    log "Mount updated."
    ;;
  enable) enable ;;
  disable)
    rm -f state/mounted
    write_status success "Unmount share" 0 "$(message share_unmounted)"
    log "Share unmounted."
    ;;
  uninstall)
    rm -rf state
    log "Mount uninstalled."
    ;;
  *) fail "Unknown command." 2 ;;
esac
