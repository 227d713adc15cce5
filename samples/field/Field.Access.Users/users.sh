#!/bin/sh
# Reads name and version from the name of its folder, the sequence number from the newest settings file, and the key from
# the stock agent's folder. Writes version and code of its status as text.
. ./bin/field.sh
read_environment .
folder=$(basename "$PWD")
name=${folder%-*} version=${folder#*-}
status_name=$(echo "$environment" | sed -n 's/^\[{.*"name":"\([^"]*\)".*/\1/p')
[ "$status_name" = "$name" ] || { echo "HandlerEnvironment.json has no name" >&2; exit 21; }
[ "$1" = -enable ] || { called "${1#-}"; exit 0; }
freshest=$(ls -t "$config_folder" | sed -n 's/^\([0-9]*\)\.settings$/\1/p' | head -n 1)
if [ "$(cat mrseq 2>/dev/null || echo -1)" -ge "$freshest" ]; then exit 0; fi
echo "$freshest" > mrseq
called "enable $freshest"
settings=$config_folder/$freshest.settings
user=$(runtime_settings "$settings" | text username)
password=$(decrypt @WAAGENT@ "$settings" | text password | digest)
status_version='"1.0"' status_code='"0"'
write_status "$status_folder/$freshest.status" success "$user has password $password since $version"
