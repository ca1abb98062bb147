#!/usr/bin/env bash
# The script that action.yml runs: annotations and summary for GitHub, SARIF and a page beside them, and the exit code of
# `gate4k check`. Everything comes by the environment, so that no word of a pull request is a word of this script.
set -uo pipefail

gate4k=${GATE4K:-gate4k}
reports=${RUNNER_TEMP:-$(mktemp -d)}/gate4k-reports
mkdir -p "$reports"

# Where a runner keeps user namespaces from programs without a profile, and we may, they are given back; where not,
# gate4k says which layers are missing, decides what it can, and leaves the rest undecided.
limit=/proc/sys/kernel/apparmor_restrict_unprivileged_userns
if [ "${GITHUB_ACTIONS:-}" = true ] && [ "$(cat "$limit" 2>/dev/null)" = 1 ]; then
    sudo -n sysctl -q -w kernel.apparmor_restrict_unprivileged_userns=0 || true
fi

# A first push has no commit before it: then everything is judged.
words=()
case ${GATE4K_SINCE:-} in
    '' | 0000000000000000000000000000000000000000) ;;
    *) words+=("--changed-since=$GATE4K_SINCE") ;;
esac
while IFS= read -r word; do
    [ -n "$word" ] && words+=("$word")
done <<<"${GATE4K_ARGUMENTS:-}"
words+=(--)
while IFS= read -r entry; do
    [ -n "$entry" ] && words+=("$entry")
done <<<"${GATE4K_ENTRIES:-}"

# The software with which entries are built takes longer to install than a check: only where there is one to judge. Where this cannot be
# told, the check below says why.
read -ra packages <<<"${GATE4K_PACKAGES:-}"
if [ "${#packages[@]}" -gt 0 ] && [ -n "$("$gate4k" check --list --quiet "${words[@]}" 2>/dev/null)" ]; then
    if ! { sudo -n apt-get update -q && sudo -n apt-get install -q -y --no-install-recommends "${packages[@]}"; }; then
        echo "::error title=gate4k::cannot install ${packages[*]}: nothing was judged"
        exit 2
    fi
fi

"$gate4k" check --report=human=- --report=github=- \
    "--report=sarif=$reports/gate4k.sarif" "--report=html=$reports/gate4k.html" "${words[@]}"
code=$?

if [ -n "${GITHUB_OUTPUT:-}" ]; then
    {
        echo "exit-code=$code"
        [ -s "$reports/gate4k.sarif" ] && echo "sarif=$reports/gate4k.sarif"
        [ -s "$reports/gate4k.html" ] && echo "html=$reports/gate4k.html"
    } >>"$GITHUB_OUTPUT"
fi
if [ "$code" -eq 4 ] && [ "${GATE4K_ALLOW_UNDECIDED:-false}" = true ]; then
    code=0
fi
exit "$code"
