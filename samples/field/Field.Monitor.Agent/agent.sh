#!/bin/sh
# Installs its packages only in install, so an update must run install too. Reads the exit codes of earlier commands.
. ./bin/field.sh
read_environment .
case $1 in
  install)
    called "install after $AZURE_GUEST_AGENT_UNINSTALL_CMD_EXIT_CODE"
    echo "$AZURE_GUEST_AGENT_EXTENSION_VERSION" > installed
    ;;
  update)
    called "update to $VERSION from $AZURE_GUEST_AGENT_UPDATING_FROM_VERSION after $AZURE_GUEST_AGENT_DISABLE_CMD_EXIT_CODE"
    ;;
  enable)
    called "enable $ConfigSequenceNumber after $AZURE_GUEST_AGENT_UNINSTALL_CMD_EXIT_CODE"
    write_status "$status_folder/$ConfigSequenceNumber.status" success "runs $(cat installed)"
    ;;
  *) called "$1" ;;
esac
