# Functions that the hooks of the blog share. Hooks run in the formula's folder. Needs POSIX sh and coreutils, and
# Python 3 or BusyBox to answer requests.
set -eu
umask 077

blog="$ENSEMBLE_CONTAINER_PATH/blog"
www="$blog/www"

# write_page: writes the page from the settings and from what the store has sent so far.
write_page() {
  store=$(cat "$blog/store" 2> /dev/null || echo none)
  {
    echo "<h1>$(config-get title)</h1>"
    echo "<p>Comments: $(config-get comments). Store: $store. Unit: $ENSEMBLE_LOCAL_UNIT.</p>"
  } > "$blog/index.html.new"
  mv "$blog/index.html.new" "$www/index.html"
}

# serve: opens the port, and answers requests with the page. Fails if the port is reserved.
serve() {
  stop_serving
  port=$(config-get port)
  if [ "$port" -lt 1024 ]; then
    ensemble-log --level ERROR --id port_reserved --param "$port" "Port $port is reserved. Choose 1024 or higher."
    return 1
  fi
  address=$(unit-get private-address)
  if command -v python3 > /dev/null; then
    python3 -m http.server --bind "$address" --directory "$www" "$port" > /dev/null 2>&1 &
    echo $! > "$blog/pid"
  elif command -v busybox > /dev/null; then
    busybox httpd -f -p "$address:$port" -h "$www" > /dev/null 2>&1 &
    echo $! > "$blog/pid"
  else
    ensemble-log --level WARNING --id no_web_server "Nothing answers requests. Install Python 3 or BusyBox."
  fi
  open-port "$port/tcp"
  echo "$port" > "$blog/port"
}

# stop_serving: closes the port, and ends the web server if it is still the one that was started.
stop_serving() {
  if [ -e "$blog/pid" ]; then
    pid=$(cat "$blog/pid")
    if grep -aqs "$www" "/proc/$pid/cmdline"; then kill "$pid"; fi
  fi
  if [ -e "$blog/port" ]; then close-port "$(cat "$blog/port")/tcp"; fi
  rm -f "$blog/pid" "$blog/port"
}
