#!/bin/sh
# Measures disk usage in the background. Writes heartbeats, and the status warning while usage is at least warnAtPercent.
. ./bin/handler.sh

case "${1:-}" in
  install) log "Metrics installed." ;;
  update) log "Metrics updated." ;;
  enable)
    start_service bin/service.sh
    log "Metrics enabled for sequence $sequence."
    ;;
  disable)
    stop_service
    write_status success "Stop metrics" 0 "$(message metrics_stopped)"
    ;;
  uninstall)
    stop_service
    log "Metrics uninstalled."
    ;;
  *) fail "Unknown command." 2 ;;
esac
