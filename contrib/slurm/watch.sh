#!/bin/sh
# Ends the shards of a match once its test is decided; submit.sh starts it.
#SBATCH --job-name=gate4k-watch
set -u
shards=$1 directory=$2 file=$3
set --
# Those that have not begun have no journal yet.
for shard in $(seq "$shards"); do set -- "$@" "$directory/$shard.journal"; done
exec gate4k merge --quiet --watch "$file" "$@"
