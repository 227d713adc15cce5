#!/bin/sh
. ./bin/field.sh
read_environment "$AZURE_GUEST_AGENT_EXTENSION_PATH"
called disable
