#!/bin/sh
# In place of ssh: `machines.sh [OPTIONS] NAME COMMAND...` runs a command on one of those of machines.py.
while [ "${1#-}" != "$1" ]; do shift; done
name=$1
shift
for machine in $MACHINES; do
    [ "${machine%=*}" = "$name" ] && exec nsenter -t "${machine#*=}" -n -u -m sh -c "$*"
done
echo "machines.sh: there is no machine $name" >&2
exit 1
