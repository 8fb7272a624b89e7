#!/bin/bash
# Runs in a new system: installs the packages beside this file, uses them, upgrades, removes and purges them.
set -euo pipefail
cd /root
export DEBIAN_FRONTEND=noninteractive
# Not /run/systemd, where systemd-analyze writes.
list_files() {
  find / -xdev \( -path /proc -o -path /sys -o -path /root -o -path /run/systemd -o -path /var/lib/apt -o -path /var/cache \) -prune \
    -o -print | sort
}

apt-get update -qq
# What the packages depend on and recommend stays: the list of files is taken when it is there.
apt-get install -y -qq --no-install-recommends ca-certificates gcc libc6-dev pkg-config bash-completion systemd ./*.deb > /dev/null
dpkg --purge tril python3-tril libtril-dev libtril0
find / -xdev -name '*tril*' -not -path '/root/*' -not -path '/proc/*' | grep -v '^/var/lib/dpkg/info/' | grep . && exit 1
list_files > before

apt-get install -y -qq ./*.deb > /dev/null
sh ./use_program.sh /usr/bin/tril
[ "$(stat -c '%a %U' /etc/tril/serve.env)" = "600 root" ]
getent passwd tril
unit=$(dpkg -L tril | grep '/tril\.service$')
systemd-analyze verify --man=no "$unit"
systemd-analyze security --offline=true --threshold=20 --no-pager "$unit" > rating || { tail -n 1 rating; exit 1; } # below 2 of 10
[ "$(find /usr/share/man/man1 -name 'tril*' | wc -l)" = "$(($(tril help | grep -c '^  [a-z]') + 1))" ]
bash -c 'source /usr/share/bash-completion/completions/tril; COMP_WORDS=(tril transl); COMP_CWORD=1; _tril; [ "${COMPREPLY[*]}" = translate ]'

cat > version.c << 'C'
#include <stdio.h>
#include <tril/tril_c.h>
int main(void) { return puts(tril_version()) < 0; }
C
gcc version.c $(pkg-config --cflags --libs tril) -o version
[ "tril $(./version)" = "$(tril --version)" ]
[ "tril $(python3 -c 'import tril; print(tril.__version__)')" = "$(tril --version)" ]

# An upgrade keeps the settings that the administrator has changed.
echo "TRIL_PORT=9000" >> /etc/tril/serve.env
apt-get install -y -qq --reinstall ./*.deb > /dev/null
grep -q TRIL_PORT=9000 /etc/tril/serve.env

dpkg --remove tril
[ -e /etc/tril/serve.env ]
mkdir -p /var/cache/tril/hub
dpkg --purge tril python3-tril libtril-dev libtril0
[ ! -e /etc/tril ] && [ ! -e /var/cache/tril ]
list_files > after
diff <(grep -vE '/(etc/(passwd|group|shadow|gshadow)-|var/log/.*)$' before) <(grep -vE '/(etc/(passwd|group|shadow|gshadow)-|var/log/.*)$' after)
echo "packages: the Debian packages can be installed, used, upgraded and purged"
