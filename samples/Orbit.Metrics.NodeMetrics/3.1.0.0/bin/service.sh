# Reports disk usage every minute, because a warning becomes stale if it is not renewed. With goStale, reports it once.
. ./bin/handler.sh
end_with_signal

measure() {
  used=$(df -P . | sed -n '2s/.* \([0-9][0-9]*\)%.*/\1/p')
  limit=$(setting warnAtPercent 80)
  samples="$(substatus cpu success 0 cpu_sampled "$(nproc)"), $(substatus disk success 0 disk_used "${used:-0}")"
  if [ "${used:-0}" -ge "$limit" ]; then
    write_status warning "Collect metrics" 80 "$(message disk_filling "${used:-0}" "$limit")" "$samples"
  else
    write_status success "Collect metrics" 0 "$(message metrics_collected "${used:-0}")" "$samples"
  fi
}

measure
elapsed=0
# Ends when the handler's folder is deleted.
while [ -f HandlerEnvironment.json ]; do
  if [ "$(setting ready true)" = false ]; then
    write_heartbeat notready 7 "The collector has no connection."
  else
    write_heartbeat ready 0 "Collecting."
  fi
  pause 15
  elapsed=$((elapsed + 15))
  if [ "$elapsed" -ge 60 ] && [ "$(setting goStale false)" = false ]; then
    elapsed=0
    measure
  fi
done
