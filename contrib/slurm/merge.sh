#!/bin/sh
# Puts the shards together; submit.sh starts it, with the job that watches them (or an empty word) and with what `gate4k merge`
# takes.
#SBATCH --job-name=gate4k-merge
set -u
directory=$1 watch=$2
shift 2
# Of shards that failed it would wait for ever.
[ -z "$watch" ] || scancel --quiet "$watch" || true
exec gate4k merge "$@" "$directory"/*.journal
