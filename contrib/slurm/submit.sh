#!/bin/sh
# Spreads a check or a match over a Slurm array and merges it when all tasks have ended:
#
#     contrib/slurm/submit.sh 16 run check entries
#     contrib/slurm/submit.sh 16 run match --rounds 5000 "cmd=./new name=new" "cmd=./base name=base"
#
# The directory (here: run) must be seen by all nodes; it gets a journal and a log of each shard, and merge.log. Given again, the
# same command goes on where the journals end. SBATCH_PARTITION, SBATCH_TIMELIMIT and their like are sbatch's own.
#
# MERGE has options of the merge, parted by blanks: MERGE="--report html=report.html --receipt receipt.json". WATCH names a file
# by which a match with --sprt ends early: a job of its own, which takes a processor beside the shards, looks at the journals
# meanwhile, into watch.log.
set -eu
shards=$1 directory=$2
shift 2
here=$(dirname "$0")
mkdir -p "$directory"
watch=
if [ -n "${WATCH-}" ]; then
    # Before the shards, which may well take all processors.
    watch=$(sbatch --parsable --output="$directory/watch.log" "$here/watch.sh" "$shards" "$directory" "$WATCH")
    set -- "$@" --until "$WATCH"
fi
array=$(sbatch --parsable --array="1-$shards" --output="$directory/%a.log" "$here/shard.sh" "$directory" "$@")
# shellcheck disable=SC2086  # options, parted by blanks
sbatch --parsable --dependency="afterany:${array%%;*}" --output="$directory/merge.log" "$here/merge.sh" \
    "$directory" "${watch%%;*}" ${MERGE-}
