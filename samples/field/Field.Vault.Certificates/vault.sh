#!/bin/sh
# If ConfigExtensionName is set, its file names include it, as for handlers that support several extensions.
. ./bin/field.sh
read_environment .
stem=${ConfigExtensionName:+$ConfigExtensionName.}$ConfigSequenceNumber
[ "$1" = enable ] || { called "$1"; exit 0; }
called "enable $stem"
write_status "$status_folder/$stem.status" success "watches $(runtime_settings "$config_folder/$stem.settings" | text certificate)"
