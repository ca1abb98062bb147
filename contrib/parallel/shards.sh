#!/bin/sh
# Spreads a check or a match over hosts by GNU parallel, and merges it:
#
#     contrib/parallel/shards.sh 16 run check entries
#     HOSTS=one,two contrib/parallel/shards.sh 16 run match --rounds 5000 "cmd=./new name=new" "cmd=./base name=base"
#
# Without HOSTS, which is parallel's --sshlogin, all shards are of this machine. The working directory and the one for the journals
# (here: run) must be the same on all hosts. Given again, the same command repeats only the shards that failed, from where their
# journals end.
#
# MERGE has options of the merge, parted by blanks: MERGE="--report html=report.html --receipt receipt.json". WATCH names a file
# by which a match with --sprt ends early: a merge looks at the journals meanwhile.
set -eu
shards=$1 directory=$2 command=$3
shift 3
mkdir -p "$directory"
rm -f "$directory"/*.failed
watch=
if [ -n "${WATCH-}" ]; then
    set -- "$@" --until "$WATCH"
    # Those that have not begun have no journal yet.
    (
        set --
        for shard in $(seq "$shards"); do set -- "$@" "$directory/$shard.journal"; done
        exec gate4k merge --quiet --watch "$WATCH" "$@" >/dev/null
    ) &
    watch=$!
fi
# The shell that is written for here: parallel takes that of whoever calls it, or what SHELL names on each host.
export PARALLEL_SHELL=/bin/sh
# The command of each try. A verdict (1) is a result, and no failure. After 2, 3 and 70 another try is of no use, and parallel cannot be
# told so: it is kept in a file, at which the next tries end.
# shellcheck disable=SC2016  # expanded by the shell that parallel starts
try='if [ -s "$1" ]; then exit "$(cat "$1")"; fi; failed=$1; shift; gate4k "$@"; code=$?; '
# shellcheck disable=SC2016
try="$try"'case $code in 1) code=0 ;; 2 | 3 | 70) echo "$code" >"$failed" ;; esac; exit "$code"'
# One shard at a time on each host, since gate4k itself uses all of it.
seq "$shards" | parallel --quote -I @shard@ --jobs "${JOBS:-1}" --retries 3 --workdir "$PWD" \
    --joblog "$directory/joblog" --resume-failed --sshlogin "${HOSTS:-:}" \
    sh -c "$try" gate4k "$directory/@shard@.failed" "$command" \
    --journal "$directory/@shard@.journal" --shard "@shard@/$shards" "$@" >&2 ||
    echo "$?: so many shards failed; see $directory/joblog, and give the same command again" >&2
# Of shards that failed it would wait for ever.
[ -z "$watch" ] || kill "$watch" 2>/dev/null || true
# shellcheck disable=SC2086  # options, parted by blanks
exec gate4k merge ${MERGE-} "$directory"/*.journal
