#!/bin/sh
# Checks a security baseline rule by rule in the background: a slow operation that reports its progress.
. ./bin/handler.sh

case "${1:-}" in
  install) log "Baseline installed." ;;
  update) log "Baseline updated." ;;
  enable)
    mkdir -p run
    # Enable may run again at any time. It does nothing if these settings are applied or being applied.
    if [ "$(cat run/applied 2>/dev/null)" = "$sequence" ]; then exit 0; fi
    if is_running && [ "$(cat run/sequence)" = "$sequence" ]; then exit 0; fi
    echo "$sequence" > run/sequence
    write_status transitioning "Apply baseline" 0 "$(message baseline_progress 0 "$(setting rules 6)")"
    start_service bin/service.sh
    ;;
  disable)
    stop_service
    write_status success "Stop baseline" 0 "$(message baseline_stopped)"
    ;;
  uninstall)
    stop_service
    log "Baseline uninstalled."
    ;;
  *) fail "Unknown command." 2 ;;
esac
