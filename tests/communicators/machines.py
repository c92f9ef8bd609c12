"""Two machines in one: `python machines.py COMMAND...` runs a command on the first of them.

Each has a name, a network card and shared memory of its own, by the namespaces of Linux; between
them there are TCP and the files. What launchers call in place of ssh is `machines.sh`. The machines
end with the command, whose exit status is given; 77 says that there can be none.
"""

import os
import subprocess
import sys
from contextlib import ExitStack
from tempfile import NamedTemporaryFile

IMPOSSIBLE = 77
NAMES = ("machine-a", "machine-b")
ADDRESSES = ("10.213.7.1", "10.213.7.2")

_BEGIN = """
set -e
hostname {name}
mount -t tmpfs shared /dev/shm
mount --bind {known} /etc/hosts
ip link set lo up
echo begun
exec cat
"""
_CONNECT = """
ip link add card-a netns {a} type veth peer name card-b netns {b}
nsenter -t {a} -n sh -c 'ip addr add {first}/24 dev card-a && ip link set card-a up'
nsenter -t {b} -n sh -c 'ip addr add {second}/24 dev card-b && ip link set card-b up'
"""


def main() -> int:
    """Make them, and run the command."""
    if os.geteuid():  # some systems let others be root of namespaces of their own
        alone = ["unshare", "--map-root-user", "--mount", "--net"]
        os.execvp(alone[0], [*alone, sys.executable, __file__, *sys.argv[1:]])
    with ExitStack() as stack:
        known = stack.enter_context(NamedTemporaryFile("w", suffix=".hosts"))
        known.write("127.0.0.1 localhost\n")
        known.writelines(f"{a} {n}\n" for a, n in zip(ADDRESSES, NAMES, strict=True))
        known.flush()
        machines = []
        for name in NAMES:
            script = _BEGIN.format(name=name, known=known.name)
            command = ["unshare", "--net", "--uts", "--mount", "sh", "-c", script]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            machines.append(stack.enter_context(subprocess.Popen(command, text=True, **pipes)))
        if not all([each.stdout.readline() for each in machines]):
            return IMPOSSIBLE
        a, b = [each.pid for each in machines]
        first, second = ADDRESSES
        connect = _CONNECT.format(a=a, b=b, first=first, second=second)
        if subprocess.run(["sh", "-ec", connect]).returncode:
            return IMPOSSIBLE
        os.environ["MACHINES"] = f"{NAMES[0]}={a} {NAMES[1]}={b}"
        there = ["nsenter", "-t", str(a), "-n", "-u", "-m", "--wd=" + os.getcwd()]
        return subprocess.call([*there, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
