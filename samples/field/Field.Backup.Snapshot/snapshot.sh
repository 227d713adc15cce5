#!/bin/sh
# Writes events as files if the agent announces support for them.
. ./bin/field.sh
read_environment .
[ "$1" = enable ] || { called "$1"; exit 0; }
called "enable $ConfigSequenceNumber"
events=$(echo "$environment" | text eventsFolder)
case $AZURE_GUEST_AGENT_EXTENSION_SUPPORTED_FEATURES in
  *ExtensionTelemetryPipeline*) ;;
  *) events= ;;
esac
if [ -z "$events" ]; then
  write_status "$status_folder/$ConfigSequenceNumber.status" error 'there is nowhere to send events'
  exit 0
fi
printf '{"EventLevel":"Informational","Message":"snapshot taken","TaskName":"Snapshot"}' > "$events/$(date +%s%N).json"
write_status "$status_folder/$ConfigSequenceNumber.status" success 'took a snapshot'
