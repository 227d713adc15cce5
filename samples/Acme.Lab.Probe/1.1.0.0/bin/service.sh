# Touches the heartbeat as long as it runs.
. ./bin/handler.sh
end_with_signal
# It ends by itself when its folder is gone.
while [ -f HandlerEnvironment.json ]; do
  write_heartbeat ready 0 "Watching $(quoted "$(setting target localhost)")."
  pause "$(setting heartbeatSeconds 20)"
done
