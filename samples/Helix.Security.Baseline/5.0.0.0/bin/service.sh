# Checks one rule after another and writes the status before each one.
. ./bin/handler.sh
end_with_signal

rules=$(setting rules 6)
done_rules=0
list=
while [ "$done_rules" -lt "$rules" ]; do
  next=$((done_rules + 1))
  write_status transitioning "Apply baseline" 0 "$(message baseline_progress "$done_rules" "$rules")" \
    "$list$(substatus "rule-$next" transitioning 0 rule_checking "$next")"
  pause "$(setting secondsPerRule 10)"
  list="$list$(substatus "rule-$next" success 0 rule_passed "$next"), "
  done_rules=$next
done
write_status success "Apply baseline" 0 "$(message baseline_applied "$rules")" "${list%, }"
echo "$sequence" > run/applied
log "Baseline applied, $rules rules."
