#!/bin/sh
. ./bin/field.sh
read_environment "$AZURE_GUEST_AGENT_EXTENSION_PATH"
before=$(cat mrseq 2>/dev/null || echo none)
[ "$before" != "$ConfigSequenceNumber" ] || exit 0
echo "$ConfigSequenceNumber" > mrseq
called "enable $ConfigSequenceNumber"
write_status "$status_folder/$ConfigSequenceNumber.status" success "applied after $before"
