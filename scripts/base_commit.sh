#!/usr/bin/env bash
# Prints the commit that changes are counted from: where the branch left origin/main, or on that branch itself the commit before.
# Prints nothing if there is none.
set -euo pipefail
head=$(git rev-parse HEAD) main=$(git merge-base HEAD origin/main 2>/dev/null || true)
if [ -n "$main" ] && [ "$main" != "$head" ]; then echo "$main"; else git rev-parse -q --verify HEAD^ || true; fi
