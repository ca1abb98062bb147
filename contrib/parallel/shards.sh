#!/bin/sh
# Spreads a check or a match over hosts by GNU parallel, and merges it:
#
#     contrib/parallel/shards.sh 16 run check entries
#     HOSTS=one,two contrib/parallel/shards.sh 16 run match --rounds 5000 "cmd=./new name=new" "cmd=./base name=base"
#
# Without HOSTS, which is parallel's --sshlogin, all shards are of this machine. The working directory and the one for the journals
# (here: run) must be the same on all hosts. Given again, the same command repeats only the shards that failed, from where their
# journals end.
set -eu
shards=$1 directory=$2 command=$3
shift 3
mkdir -p "$directory"
# The shell that is written for here: parallel takes that of whoever calls it, or what SHELL names on each host.
export PARALLEL_SHELL=/bin/sh
# shellcheck disable=SC2016  # expanded by the shell that parallel starts
# One shard at a time on each host, since gate4k itself uses all of it. A verdict (1) is a result, and no failure.
seq "$shards" | parallel --quote -I @shard@ --jobs "${JOBS:-1}" --retries 3 --workdir "$PWD" \
    --joblog "$directory/joblog" --resume-failed --sshlogin "${HOSTS:-:}" \
    sh -c 'gate4k "$@"; code=$?; [ $code -eq 1 ] || exit $code' gate4k "$command" \
    --journal "$directory/@shard@.journal" --shard "@shard@/$shards" "$@" >&2 ||
    echo "$?: so many shards failed; see $directory/joblog, and give the same command again" >&2
exec gate4k merge "$directory"/*.journal
