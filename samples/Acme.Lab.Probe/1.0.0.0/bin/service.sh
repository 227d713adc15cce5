# Writes the heartbeat while it runs.
. ./bin/handler.sh
end_with_signal
# Ends when the handler's folder is deleted.
while [ -f HandlerEnvironment.json ]; do
  write_heartbeat ready 0 "Watching $(quoted "$(setting target localhost)")."
  pause "$(setting heartbeatSeconds 20)"
done
