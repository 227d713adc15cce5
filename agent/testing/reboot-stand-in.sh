#!/bin/sh
# Stands in for a restart of the machine: kills the agent and the processes of its executions, as a power failure does,
# changes the boot id, and starts the agent again. Appends the process id of the new agent to PIDS.
# Usage: reboot-stand-in.sh AGENT_FOLDER BOOT_ID_FILE PIDS AGENT_COMMAND…
dir=$1 boot=$2 pids=$3
shift 3
kill -9 "$(cut -d' ' -f1 "$dir/agent.pid")"
for running in "$dir"/executions/*/running/*; do
  [ -d "$running" ] || continue
  for process in /proc/[0-9]*; do
    [ "$process" = "/proc/$$" ] && continue
    grep -qsF "ANNEX_COMMAND=${running##*/}" "$process/environ" && kill -9 "${process#/proc/}"
  done
done
date +%s%N > "$boot"
"$@" > /dev/null 2>&1 &
echo $! >> "$pids"
