#!/bin/sh
# Believes the environment: a ConfigExtensionName means files by that name, as handlers of several extensions have them.
. ./bin/field.sh
read_environment .
stem=${ConfigExtensionName:+$ConfigExtensionName.}$ConfigSequenceNumber
[ "$1" = enable ] || { called "$1"; exit 0; }
called "enable $stem"
write_status "$status_folder/$stem.status" success "watches $(runtime_settings "$config_folder/$stem.settings" | text certificate)"
