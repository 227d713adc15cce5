#!/bin/sh
# The agent has copied mrseq and the statuses of the replaced version into this version's folder.
. ./bin/field.sh
read_environment "$AZURE_GUEST_AGENT_EXTENSION_PATH"
called "update after $(cat mrseq) with $(cd "$status_folder" && echo *.status)"
