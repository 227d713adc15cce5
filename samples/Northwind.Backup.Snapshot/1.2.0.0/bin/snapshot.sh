#!/bin/sh
# Simulates snapshots on a share. Its extension should depend on the one that mounts the share.
. ./bin/handler.sh

case "${1:-}" in
  install) log "Snapshot installed." ;;
  update)
    cp -R "$(previous_root)/state" . 2>/dev/null || true
    log "Snapshot updated."
    ;;
  enable)
    mkdir -p state
    date -u +%Y-%m-%dT%H:%M:%SZ >> state/snapshots
    tail -n "$(setting retain 7)" state/snapshots | write_file state/snapshots
    kept=$(wc -l < state/snapshots | tr -d ' ')
    write_status success "Take snapshot" 0 "$(message snapshot_taken "$kept" "$(setting retain 7)")"
    log "Snapshot taken, $kept kept."
    ;;
  disable)
    write_status success "Pause snapshots" 0 "$(message snapshots_paused)"
    log "Snapshots paused."
    ;;
  uninstall)
    rm -rf state
    log "Snapshot uninstalled."
    ;;
  *) fail "Unknown command." 2 ;;
esac
