# Functions that the hooks of the blog share. Hooks run in the formula's folder. Needs POSIX sh and coreutils.
set -eu
umask 077

blog="$ENSEMBLE_CONTAINER_PATH/blog"

# write_page: writes the page from the settings and from what the store has sent so far.
write_page() {
  store=$(cat "$blog/store" 2> /dev/null || echo none)
  {
    echo "<h1>$(config-get title)</h1>"
    echo "<p>Comments: $(config-get comments). Store: $store.</p>"
  } > "$blog/index.html.new"
  mv "$blog/index.html.new" "$blog/index.html"
}
