# --- nothing below depends on the case -----------------------------------------------------------------------------------
usage() {
  cat <<EOF
$M_USAGE
  --list            $M_O_LIST
  --out DIR         $M_O_OUT
  --conf FILE       $M_O_CONF
  --store DIR       $M_O_STORE
  --logs DIR        $M_O_LOGS
  --app-log FILE    $M_O_APP
  --namesrv ADDR    $M_O_NAMESRV
  --max-gb N        $M_O_MAX
  --index           $M_O_INDEX
EOF
}

set -u
umask 077
LIST=; OUT=.; CONF=; STORE=; LOGS=; NAMESRV=; MAX_GB=20; INDEX=; STAGE=; PARTIAL=
HOST=$(hostname 2>/dev/null || uname -n)

fail() { printf '%s\n' "$*" >&2; exit 1; }
need() { [ "$2" -ge 2 ] || { usage >&2; exit 2; }; }

APPS=$(mktemp "${TMPDIR:-/tmp}/rmq-apps.XXXXXX") || fail "mktemp"
trap 'rm -rf "$APPS" ${STAGE:+"$STAGE"} ${PARTIAL:+"$PARTIAL"}' EXIT
trap 'exit 130' INT TERM HUP

while [ $# -gt 0 ]; do
  case $1 in
    --list) LIST=1; shift ;;
    --index) INDEX=1; shift ;;
    --out) need "$1" $#; OUT=$2; shift 2 ;;
    --conf) need "$1" $#; CONF=$2; shift 2 ;;
    --store) need "$1" $#; STORE=$2; shift 2 ;;
    --logs) need "$1" $#; LOGS=$2; shift 2 ;;
    --namesrv) need "$1" $#; NAMESRV=$2; shift 2 ;;
    --max-gb) need "$1" $#; MAX_GB=$2; shift 2 ;;
    --app-log) need "$1" $#; printf '%s\n' "$2" >>"$APPS"; shift 2 ;;
    -h|--help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done
case $MAX_GB in ''|*[!0-9]*) usage >&2; exit 2 ;; esac
[ -d "$OUT" ] || fail "$OUT: $M_NO_DIR"
OUT=$(cd "$OUT" && pwd -P)

STAGE=$(mktemp -d "${TMPDIR:-/tmp}/rmq-collect.XXXXXX") || fail "mktemp"
ROOT=$STAGE/evidence
mkdir "$ROOT"
NOTES=$ROOT/collected.txt
note() { printf '%s\n' "$*" >>"$NOTES"; }
note "host $HOST, $(date '+%Y-%m-%d %H:%M:%S %z'), since ${SINCE:-start}, until ${UNTIL:-now} (UTC), topic ${TOPIC:-all}"

# Logs and queues go by modification time; POSIX find knows -newer and little else, so a mark to compare with.
if [ -n "$SINCE_MARK" ]; then TZ=UTC0 touch -t "$SINCE_MARK" "$STAGE/since" || fail "touch $SINCE_MARK"; fi
in_window() { [ -z "$SINCE_MARK" ] || [ -n "$(find -L "$1" -prune -newer "$STAGE/since" 2>/dev/null)" ]; }

# A commitlog file goes by its records, whatever happened to its modification time: the storeTimestamp of its first one
# (at 56, with an IPv6 born host at 68, in a DLedger entry 48 later), as epoch seconds; nothing where there is no record.
first_stored() {
  od -A n -v -t u1 -N 124 "$1" 2>/dev/null | awk '
    { for (i = 1; i <= NF; i++) b[n++] = $i }
    END {
      o = (b[0] == 0 && b[1] == 0 && b[2] == 0 && b[3] == 1 && b[4] != 218) ? 48 : 0
      if (b[o + 4] != 218 || b[o + 5] != 163 || b[o + 6] != 32 || (b[o + 7] != 167 && b[o + 7] != 171)) exit
      t = o + 56 + (int(b[o + 39] / 16) % 2) * 12
      for (i = t; i < t + 8; i++) ms = ms * 256 + b[i]
      printf "%d", ms / 1000
    }'
}

# Files are linked, never copied: tar follows the links and reads each once.
add() {
  if [ ! -r "$1" ]; then note "NOT READABLE $1"; printf '%s: %s\n' "$M_UNREADABLE" "$1" >&2; return; fi
  mkdir -p "$(dirname "$ROOT/$2")"
  [ -e "$ROOT/$2" ] || ln -s "$1" "$ROOT/$2"
}
secret() { # FILE: certificates and access lists stay where they are
  case ${1##*/} in *.pem|*.key|*.jks|*.p12|*.pfx|*acl*.json*|*acl*.y*ml*|*auth*.json*|*auth*.y*ml*) note "LEFT OUT (may hold secrets) $1" ;; *) return 1 ;; esac
}
link() { # FILE: a link may lead anywhere on this host; what it names inside the same folder is found there
  [ -h "$1" ] || return 1
  note "LINK NOT FOLLOWED $1"
}
under() { # DIR: its files, by the names they have below it; links are listed in the notes
  (cd "$1" 2>/dev/null && find . -type l) | while IFS= read -r file; do note "LINK NOT FOLLOWED $1/${file#./}"; done
  (cd "$1" 2>/dev/null && find . -type f) | sed "s|^\./||"
}
add_tree() { # DIR DEST: files of a folder changed within the window
  [ -d "$1" ] || return 0
  under "$1" >"$STAGE/found"
  while IFS= read -r name; do
    if secret "$1/$name"; then continue; fi
    if in_window "$1/$name"; then take "$1/$name" "$2/$name"; fi
  done <"$STAGE/found"
}
absolute() { case $1 in /*) printf '%s' "$1" ;; *) printf '%s/%s' "$(pwd -P)" "$1" ;; esac; }

setting() { # FILE NAME: the last value wins, as in Java
  [ -r "$1" ] || return 0
  sed -n "s/^[[:space:]]*$2[[:space:]]*[=:][[:space:]]*//p" "$1" | tail -n 1 | tr -d '\r' | sed "s|\${user.home}|$BROKER_HOME|g"
}
SECRET='([Ss][Ee][Cc][Rr][Ee][Tt]|[Pp][Aa][Ss][Ss][Ww]([Oo][Rr])?[Dd]|[Pp][Aa][Ss][Ss][Pp][Hh][Rr][Aa][Ss][Ee]|[Aa][Cc][Cc][Ee][Ss][Ss][-_.]?[Kk][Ee][Yy]|[Aa][Pp][Ii][-_.]?[Kk][Ee][Yy]|[Pp][Rr][Ii][Vv][Aa][Tt][Ee][-_.]?[Kk][Ee][Yy]|[Cc][Rr][Ee][Dd][Ee][Nn][Tt][Ii][Aa][Ll]|[Tt][Oo][Kk][Ee][Nn])'
plain_copy() { # FILE DEST: a settings file without its secrets: JSON, XML elements and attributes, then properties and YAML, addresses last
  mkdir -p "$(dirname "$ROOT/$2")"
  sed -E -e 's/(\\?"[^"]*'"$SECRET"'[^"]*"[[:space:]]*:[[:space:]]*)(\\?"([^"\\]|\\.)*"|[^]["{},[:space:]][^],}]*)/\1"***"/g' \
    -e 's/(<[^<>]*'"$SECRET"'[^<>]*>)[^<]+/\1***/g' \
    -e 's/([Nn]ame="[^"]*'"$SECRET"'[^"]*"[[:space:]]+[Vv]alue=")[^"]*/\1***/g' \
    -e 's/('"$SECRET"'[A-Za-z0-9_.-]*[[:space:]]*=[[:space:]]*")[^"]*/\1***/g' \
    -e 's/^([^=:<>"{]*'"$SECRET"'[^=:<>"]*[=:]).*/\1***/' \
    -e 's/(.*[{,][[:space:]]*[^=:<>",]*'"$SECRET"'[^=:<>",]*:[[:space:]]+).*/\1***/' \
    -e 's#(://[^:/@[:space:]]*:)[^@/[:space:]]*@#\1***@#g' "$1" >"$ROOT/$2"
}
take() { # FILE DEST: settings that hold a secret are copied without it, everything else is linked
  case ${1##*/} in
    *.json|*.json.*|*.yml|*.yaml|*.xml|*.conf|*.properties|*.cfg|*.ini|*.toml)
      if [ -r "$1" ] && grep -Eq "$SECRET|://[^:/@ ]*:[^@/ ]*@" "$1" 2>/dev/null; then note "SECRETS MASKED $1"; plain_copy "$1" "$2"; return 0; fi ;;
  esac
  add "$1" "$2"
}

segments() { # DIR DEST: log files that hold something of the window; each ends where the next begins
  if [ ! -d "$1" ]; then note "NO FOLDER $1"; return 0; fi
  under "$1" | grep -E '(^|/)[0-9][^/]*$' | sort >"$STAGE/names"
  while IFS= read -r name; do printf '%s\n' "$1/$name"; done <"$STAGE/names" >"$STAGE/found"
  : >"$STAGE/wanted"
  # From the last file back: a file ends where the next one, seen just before, begins. Unknown times are taken along.
  sort -r "$STAGE/found" >"$STAGE/newest"
  end=
  while IFS= read -r file; do
    begin=$(first_stored "$file")
    if [ -n "$SINCE_S" ] && [ -n "$end" ] && [ "$end" -lt "$SINCE_S" ]; then begin=${begin:-$end}
    elif [ -n "$UNTIL_S" ] && [ -n "$begin" ] && [ "$begin" -gt "$UNTIL_S" ]; then :
    else printf '%s\n' "$file" >>"$STAGE/wanted"; fi
    end=${begin:-$end}
  done <"$STAGE/newest"
  # Newest first up to the limit: what is left out is said, not cut silently.
  while IFS= read -r file; do
    kb=$(du -kL "$file" | awk '{print $1; exit}')
    if [ $((USED_KB + kb)) -gt $((MAX_GB * 1048576)) ]; then
      note "LEFT OUT (--max-gb $MAX_GB) $file, $kb KiB"; printf '%s: %s (%s KiB)\n' "$M_LEFT_OUT" "$file" "$kb" >&2
      continue
    fi
    USED_KB=$((USED_KB + kb))
    add "$file" "$2/${file##*/}"
  done <"$STAGE/wanted"
}

queues() { # DIR DEST: consume queues, all or those of the topic and of RocketMQ itself
  [ -d "$1" ] || return 0
  for path in "$1"/*; do
    [ -d "$path" ] || continue
    if link "$path"; then continue; fi
    name=${path##*/}
    if [ -n "$TOPIC" ] && [ "$name" != "$TOPIC" ]; then
      case $name in RMQ_SYS_TRANS_*|SCHEDULE_TOPIC_XXXX|TRANS_CHECK_MAX_TIME_TOPIC|%RETRY%*|%DLQ%*) ;; *) continue ;; esac
    fi
    add_tree "$path" "$2/$name"
  done
}

broker() { # CONF DEST
  BROKER_HOME=$HOME
  if [ -n "${3:-}" ]; then
    user=$(ps -o user= -p "$3" 2>/dev/null | tr -d ' ')
    home=$(awk -F: -v u="$user" '$1 == u {print $6}' /etc/passwd 2>/dev/null)
    BROKER_HOME=${home:-$HOME}
  fi
  store=$STORE
  [ -n "$store" ] || store=$(setting "$1" storePathRootDir)
  [ -n "$store" ] || store=$BROKER_HOME/store
  logs=$LOGS
  [ -n "$logs" ] || logs=$BROKER_HOME/logs/rocketmqlogs
  store=$(absolute "$store"); logs=$(absolute "$logs")
  if [ -r "$1" ]; then plain_copy "$1" "$2/${1##*/}"; fi
  add_tree "$logs" "$2/logs"
  for gc in /dev/shm/*gc*.log* "$BROKER_HOME"/*gc*.log*; do
    if [ -f "$gc" ] && ! link "$gc" && in_window "$gc"; then add "$gc" "$2/host/${gc##*/}"; fi
  done
  if [ ! -d "$store" ]; then note "NO STORE $store"; return 0; fi
  case $OUT/ in "$(cd "$store" && pwd -P)"/*) fail "$OUT: $M_OUT_INSIDE" ;; esac
  for file in "$store"/config/*; do
    if [ -f "$file" ] && ! link "$file" && ! secret "$file"; then take "$file" "$2/store/config/${file##*/}"; fi
  done
  for file in checkpoint abort; do if [ -f "$store/$file" ]; then add "$store/$file" "$2/store/$file"; fi; done
  # A store named by hand is taken as it lies, wherever the broker that wrote it kept its commitlog.
  commitlogs=
  [ -n "$STORE" ] || commitlogs=$(setting "$1" storePathCommitLog)
  printf '%s\n' "${commitlogs:-$store/commitlog}" | tr ',' '\n' >"$STAGE/dirs"
  while IFS= read -r dir; do segments "$(absolute "$dir")" "$2/store/commitlog"; done <"$STAGE/dirs"
  for dir in "$store"/dledger-*; do
    if [ -d "$dir/data" ]; then
      segments "$dir/data" "$2/store/${dir##*/}/data"
      for file in checkpoint currterm; do if [ -f "$dir/$file" ]; then add "$dir/$file" "$2/store/${dir##*/}/$file"; fi; done
    fi
  done
  queues "$store/consumequeue" "$2/store/consumequeue"
  if [ -n "$INDEX" ]; then add_tree "$store/index" "$2/store/index"; else note "LEFT OUT (--index) $store/index"; fi
}

run() { # DEST COMMAND...: what a command says, its own command line first; at most a minute, and without the script as its input
  dest=$ROOT/$1; shift
  command -v "$1" >/dev/null 2>&1 || return 0
  mkdir -p "$(dirname "$dest")"
  printf '$ %s\n\n' "$*" >"$dest"
  if command -v timeout >/dev/null 2>&1; then timeout 60 "$@" </dev/null >>"$dest" 2>&1
  else "$@" </dev/null >>"$dest" 2>&1; fi
  return 0
}

metrics() {
  run "$1/date.txt" date '+%Y-%m-%d %H:%M:%S %z %Z'
  run "$1/uname.txt" uname -a
  run "$1/uptime.txt" uptime
  run "$1/df.txt" df -Pk
  run "$1/df-inodes.txt" df -Pi
  run "$1/vmstat.txt" vmstat -t 1 10
  run "$1/iostat.txt" iostat -dxt 1 10
  run "$1/sar.txt" sar -A
  run "$1/sysctl.txt" sysctl vm.swappiness vm.dirty_ratio vm.dirty_background_ratio vm.max_map_count vm.min_free_kbytes
  run "$1/dmesg.txt" dmesg -T
  for file in meminfo loadavg pressure/cpu pressure/io pressure/memory; do
    if [ -r "/proc/$file" ]; then run "$1/proc-$(printf '%s' "$file" | tr / -).txt" cat "/proc/$file"; fi
  done
}

admin() { # CONF DEST
  mq=$(command -v mqadmin 2>/dev/null)
  [ -n "$mq" ] || mq=${ROCKETMQ_HOME:-/nowhere}/bin/mqadmin
  [ -x "$mq" ] || { note "no mqadmin"; return 0; }
  servers=$NAMESRV
  [ -n "$servers" ] || servers=$(setting "$1" namesrvAddr)
  [ -n "$servers" ] || servers=${NAMESRV_ADDR:-}
  [ -n "$servers" ] || { note "no name server known: --namesrv"; return 0; }
  ip=$(setting "$1" brokerIP1); port=$(setting "$1" listenPort)
  address=${ip:-127.0.0.1}:${port:-10911}
  # Its own home: otherwise the tool writes into the broker's logs.
  mkdir -p "$STAGE/home"
  JAVA_OPT="${JAVA_OPT:-} -Duser.home=$STAGE/home -Drocketmq.client.logRoot=$STAGE/home"; export JAVA_OPT
  run "$2/clusterList.txt" "$mq" clusterList -n "$servers"
  run "$2/getBrokerConfig.txt" "$mq" getBrokerConfig -n "$servers" -b "$address"
  run "$2/brokerStatus.txt" "$mq" brokerStatus -n "$servers" -b "$address"
  run "$2/consumerProgress.txt" "$mq" consumerProgress -n "$servers"
  for topic in RMQ_SYS_TRANS_HALF_TOPIC RMQ_SYS_TRANS_OP_HALF_TOPIC SCHEDULE_TOPIC_XXXX ${TOPIC:+"$TOPIC"}; do
    run "$2/topicStatus-$(printf '%s' "$topic" | tr / _).txt" "$mq" topicStatus -n "$servers" -t "$topic"
  done
}

# --- what is on this host ------------------------------------------------------------------------------------------------
USED_KB=0
BROKER_HOME=$HOME
{ ps -eo pid,args 2>/dev/null || ps -o pid,args; } | grep '[B]rokerStartup' >"$STAGE/brokers"
FIRST_CONF=
if [ -n "$CONF" ] || [ -n "$STORE" ]; then
  if [ -n "$CONF" ]; then [ -r "$CONF" ] || fail "$CONF: $M_UNREADABLE"; fi
  FIRST_CONF=$CONF
  broker "$CONF" broker
elif [ -s "$STAGE/brokers" ]; then
  n=0
  while read -r pid args; do
    n=$((n + 1))
    conf=$(printf '%s\n' "$args" | sed -n 's/.* -c  *\([^ ]*\).*/\1/p')
    [ -n "$FIRST_CONF" ] || FIRST_CONF=$conf
    broker "$conf" "broker$([ $n -eq 1 ] || printf '%s' "-$n")" "$pid"
  done <"$STAGE/brokers"
else
  # A client's host, or a broker that is down: its logs, and a store where one usually is.
  if [ -d "$HOME/store/commitlog" ]; then broker "" broker
  else add_tree "${LOGS:-$HOME/logs/rocketmqlogs}" client; fi
fi
while IFS= read -r file; do
  file=$(absolute "$file")
  for part in "$file" "$file".* "$file"-*; do
    if [ "$part" != "$file" ] && link "$part"; then continue; fi
    if [ -f "$part" ] && in_window "$part"; then add "$part" "app/$(printf '%s' "${part#/}" | tr / _)"; fi
  done
done <"$APPS"

KB=$(du -ksL "$ROOT" | awk '{print $1; exit}')
if [ -n "$LIST" ]; then
  find "$ROOT" \( -type l -o -type f \) | sort | while IFS= read -r file; do
    printf '%12s KiB  %s\n' "$(du -kL "$file" | awk '{print $1; exit}')" "${file#"$ROOT"/}"
  done
  printf '%12s KiB  %s\n' "$KB" "$M_TOTAL"
  grep -E '^(LEFT OUT|NOT READABLE|NO STORE|NO FOLDER)' "$NOTES"
  exit 0
fi

# The archive may land on the broker's own disk: never take its last space. The sum before compression is the worst case.
FREE=$(df -Pk "$OUT" | awk 'NR == 2 {print $4}')
SPARE=2097152
printf '%s: %s KiB, %s: %s KiB\n' "$M_TOTAL" "$KB" "$M_FREE" "$FREE"
[ "$FREE" -gt $((KB + SPARE)) ] || fail "$OUT: $M_NO_SPACE"

admin "$FIRST_CONF" broker/mqadmin
metrics "$(if [ -d "$ROOT/broker" ]; then printf broker/host; else printf host; fi)"

ARCHIVE=$OUT/rocketmq-evidence-$(printf '%s' "$HOST" | tr -c 'A-Za-z0-9.-' _)-$(date '+%Y%m%d%H%M%S').tar.gz
SPARSE=; case $(tar --version 2>/dev/null) in *GNU*) SPARSE=S ;; esac
PARTIAL=$ARCHIVE
GENTLE=; if command -v ionice >/dev/null 2>&1 && ionice -c3 true 2>/dev/null; then GENTLE='ionice -c3'; fi
# A live file changes under tar's hands (its exit code 1): that is expected, and the last record may be torn.
( $GENTLE nice -n 19 tar -ch${SPARSE}f - -C "$STAGE" evidence 2>"$STAGE/tar.err"; echo $? >"$STAGE/tar.rc" ) | nice -n 19 gzip -1 >"$ARCHIVE"
if [ $? -ne 0 ] || [ "$(cat "$STAGE/tar.rc")" -gt 1 ]; then
  cat "$STAGE/tar.err" >&2
  fail "$M_TAR"
fi
PARTIAL=
if command -v sha256sum >/dev/null 2>&1; then sha256sum "$ARCHIVE"; fi
printf '%s %s\n' "$M_DONE" "$ARCHIVE"
