#!/bin/sh
# Puts the shards together; submit.sh starts it, and by hand it takes what `gate4k merge` takes behind the directory.
#SBATCH --job-name=gate4k-merge
set -u
directory=$1
shift
exec gate4k merge "$@" "$directory"/*.journal
