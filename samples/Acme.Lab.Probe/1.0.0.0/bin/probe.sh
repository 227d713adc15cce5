#!/bin/sh
# A probe that watches a target: reports success, writes heartbeats, and counts how often it was enabled.
. ./bin/handler.sh

case "${1:-}" in
  install)
    mkdir -p state
    echo 0 > state/enabled-count
    log "Probe 1.0.0.0 installed."
    ;;
  enable)
    mkdir -p state
    count=$(($(cat state/enabled-count 2>/dev/null || echo 0) + 1))
    echo "$count" > state/enabled-count
    start_service bin/service.sh
    target=$(setting target localhost)
    write_status success "Enable probe" 0 "$(message probe_watching "$target" "$count")" \
      "$(substatus target success 0 target_reached "$target")"
    log "Probe enabled for sequence $sequence."
    ;;
  disable)
    stop_service
    write_status success "Disable probe" 0 "$(message probe_stopped)"
    ;;
  update)
    log "Nothing to carry over."
    ;;
  uninstall)
    stop_service
    rm -rf state
    log "Probe 1.0.0.0 uninstalled."
    ;;
  *)
    fail "Unknown command." 2
    ;;
esac
