#!/bin/sh
# Runs a helper that is not executable in the zip.
. ./bin/field.sh
read_environment .
sequence=$ConfigSequenceNumber
case $1 in
  enable)
    called "enable $sequence"
    distance=$(./bin/helper "$config_folder/$sequence.settings")
    write_status "$status_folder/$sequence.status" success "patches every $distance days"
    ;;
  disable)
    called disable
    write_status "$status_folder/$sequence.status" success 'patches no longer'
    ;;
  *) called "$1" ;;
esac
