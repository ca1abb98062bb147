#!/bin/sh
# One shard of a check or a match, as a task of an array; submit.sh starts it.
#SBATCH --job-name=gate4k
#SBATCH --requeue
#SBATCH --open-mode=append
set -u
directory=$1 command=$2
shift 2
gate4k "$command" --journal "$directory/$SLURM_ARRAY_TASK_ID.journal" --shard auto "$@"
code=$?
case $code in
# A verdict is a result; the merge tells it.
0 | 1) exit 0 ;;
# The command, the entries or gate4k itself: another try is of no use.
2 | 3 | 70) exit "$code" ;;
esac
# This host's trouble, a stop or a kill: another try goes on from there, three at most.
if [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ]; then
    scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" && sleep 60
fi
exit "$code"
