#!/bin/sh
# Needs no settings, and an update does not run its install. Copies its state from the folder of the replaced version,
# whose name it derives from the version that the agent states.
. ./bin/field.sh
read_environment .
case $1 in
  install) called install; echo installed > state ;;
  update)
    called "update from $AZURE_GUEST_AGENT_UPDATING_FROM_VERSION"
    cp "${PWD%-*}-$AZURE_GUEST_AGENT_UPDATING_FROM_VERSION/state" state
    echo "updated" >> state
    ;;
  enable)
    called "enable $ConfigSequenceNumber"
    write_status "$status_folder/$ConfigSequenceNumber.status" success "$(paste -sd, state)"
    ;;
  *) called "$1" ;;
esac
