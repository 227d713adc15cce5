#!/bin/sh
# The agent has put what the version before did last, and its statuses, into the folder of this one.
. ./bin/field.sh
read_environment "$AZURE_GUEST_AGENT_EXTENSION_PATH"
called "update after $(cat mrseq) with $(cd "$status_folder" && echo *.status)"
