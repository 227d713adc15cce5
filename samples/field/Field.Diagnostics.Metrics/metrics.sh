#!/bin/sh
# Starts a service in a separate session. The service writes heartbeats with version and code as text.
. ./bin/field.sh
read_environment .
stop() {
  if [ -s service.pid ]; then kill "$(cat service.pid)" 2>/dev/null || true; fi
  rm -f service.pid
}
case $1 in
  service)
    echo $$ > service.pid
    while :; do
      echo '[{"version":"1.0","heartbeat":{"status":"ready","code":"0","Message":"collecting"}}]' > "$heartbeat_file.tmp"
      mv "$heartbeat_file.tmp" "$heartbeat_file"
      sleep 1
    done
    ;;
  enable)
    called "enable $ConfigSequenceNumber"
    stop
    setsid ./metrics.sh service < /dev/null > /dev/null 2>&1 &
    status_version='"1.0"' status_code='"0"'
    write_status "$status_folder/$ConfigSequenceNumber.status" success 'collects metrics'
    ;;
  disable) called disable; stop ;;
  *) called "$1" ;;
esac
