#!/bin/sh
# A probe that watches a target. Version 1.1 also reports the latency, and takes over the count of version 1.0.
. ./bin/handler.sh

case "${1:-}" in
  install)
    mkdir -p state
    echo 0 > state/enabled-count
    log "Probe 1.1.0.0 installed."
    ;;
  update)
    mkdir -p state
    cp "$(previous_root)/state/enabled-count" state/enabled-count 2>/dev/null || echo 0 > state/enabled-count
    log "Probe updated, enabled $(cat state/enabled-count) times so far."
    ;;
  enable)
    count=$(($(cat state/enabled-count) + 1))
    echo "$count" > state/enabled-count
    start_service bin/service.sh
    target=$(setting target localhost)
    write_status success "Enable probe" 0 "$(message probe_watching "$target" "$count")" \
      "$(substatus target success 0 target_reached "$target"), $(substatus latency success 0 latency_within "$(setting maxMilliseconds 250)")"
    log "Probe enabled for sequence $sequence."
    ;;
  disable)
    stop_service
    write_status success "Disable probe" 0 "$(message probe_stopped)"
    ;;
  uninstall)
    stop_service
    rm -rf state
    log "Probe 1.1.0.0 uninstalled."
    ;;
  *)
    fail "Unknown command." 2
    ;;
esac
