# SPDX-License-Identifier: Apache-2.0
# The demonstration: an event file is applied, its sessions of all kinds open seconds later, claims pour in (some twice, some too many), places are given back,
# numbers are paid, points are spent, the provider fails now and then, everything is delivered, and the audit proves it. Sourced (bash) by stack.sh.

DEMO_FILE=config/events/demo.yaml
DEMO_DELIVERY_SECONDS=120
DEMO_SENDING_SECONDS=4      # per session

# progress LABEL DONE TOTAL NOTE: a bar on a terminal, else a line every few seconds.
progress() {
  local label=$1 done=$2 total=$3 note=$4 width=30 full
  [ "$total" -gt 0 ] || total=1
  if [ -t 1 ]; then
    full=$((done >= total ? width : done * width / total))
    printf '\r\033[K  %-28s [%s%s] %s' "$label" "$(printf '%*s' "$full" '' | tr ' ' '#')" "$(printf '%*s' $((width - full)) '' | tr ' ' .)" "$note"
  elif [ $SECONDS -ge "${NEXT_LINE:-0}" ]; then
    NEXT_LINE=$((SECONDS + 3))
    printf '  %-28s %s\n' "$label" "$note"
  fi
}

progress_done() {  # LABEL NOTE
  [ -t 1 ] && printf '\r\033[K'
  printf '  %-28s %s\n' "$1" "$2"
  NEXT_LINE=0
}

# The sessions that this run of the demonstration made: "code stock kind rules" lines in the order of their start; rules: which preparation their claims need.
demo_sessions() {
  pg -At -F ' ' -c "select code, coalesce(stock_total, 1000), kind, case when needs_qualification then 'list' when intake = 'queued' then 'queue' else '-' end
    from largesse.activity where event_code = '$EVENT' and created_at >= '$BEGIN' order by start_at, code"
}

# figures CODE_LIST -> accepted delivered failed open review retries waiting taken; what still waits to be judged is open, what holds stock is taken
figures() {
  pg -At -F ' ' -c "select count(*), count(*) filter (where c.status = 'succeeded'), count(*) filter (where c.status in ('failed', 'rolled_back', 'expired')),
      count(*) filter (where c.status in ('issuing', 'held', 'offered') and c.review_since is null)
        + (select count(*) from largesse.claim_queue q join largesse.activity a on a.id = q.activity_id where a.code in ($1) and q.verdict is null), count(*) filter (where c.review_since is not null),
      coalesce(sum(greatest(c.attempts - 1, 0)), 0), count(*) filter (where c.status = 'waiting'),
      count(*) filter (where c.status in ('issuing', 'held', 'offered', 'succeeded'))
    from largesse.claim c join largesse.activity a on a.id = c.activity_id where a.code in ($1)"
}

to_simulator() {  # PATH BODY
  curl -s -f -o /dev/null -m 5 -H 'Content-Type: application/json' -d "$2" "$SIMULATOR_URL$1" || { warn "the simulator refused $1"; return 1; }
}

# A provider as it is in life: some answers are errors, some are lost after the credit was made.
make_provider_sick() {
  local script
  for script in '{"match":{"any":true},"times":15,"steps":[{"status":500,"effect":"none"}]}' \
                '{"match":{"any":true},"times":10,"steps":[{"effect":"before","close":true}]}'; do
    to_simulator /sim/script "$script" || return 1
  done
}

# import_csv PATH: rows of a CSV from standard input, through the API.
import_csv() {
  curl -s -f -o "$DEMO_DIR/import.json" -m 30 -H 'Content-Type: text/csv' --data-binary @- "$SCHEDULER_URL$1" || { warn "the import to $1 was refused: $(cat "$DEMO_DIR/import.json")"; return 1; }
}

# prepare_people CODE STOCK KIND RULES: what claims of a session need beforehand. Three in four of the people who are going to claim have it.
prepare_people() {
  local people=$(($2 * 3 / 2))
  case $3 in
    exchange) seq $people | awk -v run=$$ 'BEGIN { print "userId,amount,bizId,reason" } { print $1 ",598,demo-" run ",demonstration" }' | import_csv /v1/points || return 1 ;;
  esac
  case $4 in
    list) seq $people | awk 'BEGIN { print "userId,source" } { print $1 ",demo" }' | import_csv "/v1/activities/$1/qualifications" || return 1 ;;
  esac
}

wait_for_start() {  # CODE
  local left
  while :; do
    left=$(pg -At -c "select ceil(greatest(extract(epoch from start_at - largesse.clock_now()), 0)) from largesse.activity where code = '$1'") || return 1
    [ "$left" -gt 0 ] || return 0
    progress "$1" 0 1 "opens in $left s"
    pause 0.5
  done
}

# give_places_back CODE: some of those who have a place cancel; who waits moves up.
give_places_back() {
  pg -At -c "select c.biz_id from largesse.claim c join largesse.activity a on a.id = c.activity_id where a.code = '$1' and c.status = 'succeeded' order by c.id limit 40" |
    sed "s|.*|url = \"$SCHEDULER_URL/v1/claims/$1/&/cancel\"\noutput = /dev/null|" |
    curl -s --no-progress-meter -f -m 30 -X POST --parallel --parallel-max 8 -K - || { warn "a place could not be given back"; return 1; }
}

taken_text() {  # STOCK FIGURES: who waits has taken nothing
  printf '%s of %s taken, %s delivered' "$9" "$1" "$3"
  [ "$8" = 0 ] || printf ', %s waiting' "$8"
}

# send_claims CODE STOCK KIND RULES: nearly twice as many clicks as there is, by people some of whom come again; then some clients
# repeat clicks that were answered.
send_claims() {
  local code=$1 stock=$2 clicks users load=("$LOAD" --url "$SCHEDULER_URL" --activity "$1" --seed 7 --biz-prefix "demo-$$-")
  clicks=$((stock * 9 / 5)) users=$((stock * 2))
  [ "$3" = number ] && load+=(--numbers "$(pg -At -F - -c "select min(number), max(number) from largesse.activity_number n join largesse.activity a on a.id = n.activity_id where a.code = '$code'")")
  [ "$4" = list ] && load+=(--channel APP)
  "${load[@]}" --requests "$clicks" --users "random:$users" --connections 64 --rate $((clicks / DEMO_SENDING_SECONDS + 1)) \
    --record "$DEMO_DIR/$code.csv" --json >"$DEMO_DIR/$code.json" 2>"$DEMO_DIR/$code.err" </dev/null 9>&- &
  STEP_PID=$!
  local counts
  while kill -0 "$STEP_PID" 2>/dev/null; do
    counts=($(figures "'$code'"))
    progress "$code" "${counts[7]}" "$stock" "$(taken_text "$stock" "${counts[@]}")"
    pause 0.5
  done
  wait "$STEP_PID" || { STEP_PID=; warn "some clicks had no answer: $(tail -n 1 "$DEMO_DIR/$code.err")"; return 1; }
  STEP_PID=
  run_step "${load[@]}" --requests $((clicks / 10)) --users "random:$users" --record "$DEMO_DIR/$code.again.csv" --json >"$DEMO_DIR/$code.again.json" || return 1
  [ "$3" != registration ] || give_places_back "$code" || return 1
  counts=($(figures "'$code'"))
  progress_done "$code" "$(taken_text "$stock" "${counts[@]}")"
}

wait_for_delivery() {
  local end=$((SECONDS + DEMO_DELIVERY_SECONDS)) counts
  while :; do
    counts=($(figures "$LIST")) || return 1
    [ "${counts[3]}" -gt 0 ] || break
    [ $SECONDS -lt $end ] || { progress_done "delivery" "${counts[3]} claims are still open after $DEMO_DELIVERY_SECONDS s"; return 1; }
    progress "delivery" $((counts[0] - counts[3])) "${counts[0]}" "${counts[1]} of $((counts[7] + counts[2])) delivered"
    pause 0.3
  done
  progress_done "delivery" "${counts[1]} of $((counts[7] + counts[2])) delivered"
}

audit() {
  REPORT=$DEMO_DIR/audit.json
  daemon_command reconciler audit --all --format json --output "$REPORT" >"$DEMO_DIR/audit.out" 2>&1
  AUDIT_STATUS=$?
  [ $AUDIT_STATUS -le 1 ] || { warn "the audit failed (status $AUDIT_STATUS)"; cat "$DEMO_DIR/audit.out" >&2; return 1; }
}

# What became of the clicks that were queued: a code on each line, beside what the clients were told at once.
queue_verdicts() {  # CODE
  pg -At -F , -c "select '', '', case verdict when 'ACCEPTED' then 201 else 409 end, '', nullif(verdict, 'ACCEPTED') from largesse.claim_queue q
    join largesse.activity a on a.id = q.activity_id where a.code = '$1' and verdict <> 'ACCEPTED'
    union all select '', '', 201, '', '' from largesse.claim c join largesse.activity a on a.id = c.activity_id where a.code = '$1' and a.intake = 'queued'"
}

# A row per session from what the clients were told and what the database holds.
summary() {
  local code stock kind rules counts
  printf '\n%-24s %-12s %6s %7s %9s %8s %9s %10s %8s %8s %9s %8s %8s\n' session kind stock clicks accepted replays "sold out" "over limit" "by rule" waiting delivered retries "p99 ms"
  while read -r code stock kind rules; do
    counts=($(figures "'$code'"))
    queue_verdicts "$code" >"$DEMO_DIR/$code.queue" </dev/null
    [ "$rules" != queue ] || kind=$kind/queue
    awk -F , -v code="$code" -v stock="$stock" -v kind="$kind" -v delivered="${counts[1]}" -v retries="${counts[5]}" -v waiting="${counts[6]}" \
        -v p99="$(sed -n 's/.*"p99":\([0-9.]*\).*/\1/p' "$DEMO_DIR/$code.json")" '
      $1 == "bizId" { next }
      $1 != "" { clicks++ }
      $3 == 201 { accepted++; next }
      $3 == 200 { replays++; next }
      $5 == "SOLD_OUT" || $5 == "NUMBER_TAKEN" { sold++; next }
      $5 == "LIMIT_REACHED" || $5 == "ALREADY_REGISTERED" { limit++; next }
      $3 >= 400 && $3 < 500 { rule++ }
      END { printf "%-24s %-12s %6d %7d %9d %8d %9d %10d %8d %8d %9d %8d %8.1f\n", code, kind, stock, clicks, accepted, replays, sold, limit, rule, waiting, delivered, retries, p99 }
    ' "$DEMO_DIR/$code.csv" "$DEMO_DIR/$code.again.csv" "$DEMO_DIR/$code.queue"
  done <<<"$SESSIONS"
  curl -s -m 5 "$SIMULATOR_URL/sim/stats" | awk '
    function value(key) { return match($0, "\"" key "\":[0-9]+") ? substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) : "?" }
    { printf "\nprovider: %s credits made, %s requests, %s of them repeated without effect, %s inquiries\n", value("effects"), value("requests"), value("duplicates"), value("inquiries") }'
  if [ "$AUDIT_STATUS" = 0 ]; then say "audit: clean"; else say "audit: findings"; daemon_command reconciler audit --all; fi
  say "report: $REPORT"
}

# The whole play; 0 if everything was delivered and the audit is clean.
play() {
  LOAD=${LARGESSE_BIN:+${LARGESSE_BIN%/bin}}
  LOAD=${LOAD:-$ROOT/build/${VARIANT:-release}}/bench/load
  DEMO_DIR=$HOME_DIR/demo/$(date +%Y%m%d-%H%M%S)
  mkdir -p "$DEMO_DIR" || return 1
  EVENT=$(sed -n 's/^event: *//p' "$ROOT/$DEMO_FILE")
  BEGIN=$(pg -At -c 'select largesse.clock_now()') || return 1
  say "Applying $DEMO_FILE …"
  make_provider_sick || return 1
  run_step daemon_command scheduler apply "$ROOT/$DEMO_FILE" || { warn "scheduler apply failed"; return 1; }
  SESSIONS=$(demo_sessions)
  [ -n "$SESSIONS" ] || { warn "$DEMO_FILE made no session of event $EVENT"; return 1; }
  LIST=$(printf "%s\n" "$SESSIONS" | sed "s/ .*//; s/.*/'&'/" | paste -sd, -)
  local code stock kind rules sent=0 delivered
  to_simulator /sim/config '{"autoPay":true}' || return 1  # people who pay at once
  while read -r code stock kind rules <&3; do prepare_people "$code" "$stock" "$kind" "$rules" || return 1; done 3<<<"$SESSIONS"
  while read -r code stock kind rules <&3; do
    wait_for_start "$code" && send_claims "$code" "$stock" "$kind" "$rules" || sent=1
  done 3<<<"$SESSIONS"
  wait_for_delivery || sent=1
  to_simulator /sim/config '{"autoPay":false}' || sent=1
  audit || return 1
  summary
  delivered=($(figures "$LIST"))
  [ "$sent" = 0 ] && [ "$AUDIT_STATUS" = 0 ] && [ "${delivered[1]}" -gt 0 ]
}

demo() {
  local status
  if is_running; then
    say "Using the stack that is running in $HOME_DIR."
    LARGESSE_PORT=$(($(sed -n 's/^PGPORT=//p' "$RUN_DIR/env") - 32))
    set_ports
    set_daemon_env
    find_postgres || exit 1
    trap 'exit 130' INT TERM
    trap '[ -z "${STEP_PID:-}" ] || kill "$STEP_PID" 2>/dev/null' EXIT
    play
    exit $?
  fi
  start_all
  play
  status=$?
  say
  print_urls
  if [ -t 1 ] && [ -t 0 ] && [ "${DEMO_KEEP:-1}" != 0 ]; then
    say "The stack stays up; Ctrl-C stops everything."
    [ $status = 0 ] && UP=1
    watch
  fi
  exit $status
}
