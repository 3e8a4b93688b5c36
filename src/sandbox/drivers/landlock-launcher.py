"""
Runs one command with the walls that a process can put up around itself: `python3 landlock-launcher.py run`, which reads
what to do as JSON from descriptor 3. `python3 landlock-launcher.py version` prints the kernel's version of Landlock.

Stays the parent of everything that the command starts, daemons too, and ends all of it when the command ends, when it
is told to by SIGTERM, or when its own parent dies.
"""
import ctypes
import json
import os
import resource
import signal
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
SET_DEATH_SIGNAL, SET_SECCOMP, SET_SUBREAPER, SET_NO_NEW_PRIVILEGES = 1, 22, 36, 38
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE, IOCTL_DEVICE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14, 1 << 15
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE
READING = EXECUTE | READ_FILE | READ_DIR


class Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64)]


class Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("rights", ctypes.c_uint64), ("folder", ctypes.c_int32)]


class FilterProgram(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def checked(result):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def version():
    return max(0, libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1))


def restrict_files(abi, readable, writable, devices):
    """No file but these, no TCP, no signal and no abstract socket to the outside, as far as this kernel has it."""
    known = (1 << (13 if abi < 2 else 14 if abi < 3 else 15 if abi < 5 else 16)) - 1
    ruleset = Ruleset(known, 3 if abi >= 4 else 0, 3 if abi >= 6 else 0)
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    rules = checked(libc.syscall(CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(size), 0))
    for paths, rights in ((readable, READING), (writable, ~IOCTL_DEVICE), (devices, READ_FILE | WRITE_FILE | IOCTL_DEVICE)):
        for path in paths:
            try:
                folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue
            possible = known if os.path.isdir(path) else known & OF_FILES
            beneath = Beneath(rights & possible, folder)
            checked(libc.syscall(ADD_RULE, rules, 1, ctypes.byref(beneath), 0))
            os.close(folder)
    checked(libc.syscall(RESTRICT_SELF, rules, 0))
    os.close(rules)


def filter_calls(instructions):
    program = FilterProgram(len(instructions) // 8, instructions)
    checked(libc.prctl(SET_SECCOMP, 2, ctypes.byref(program), 0, 0))


def limit(settings, user):
    # It counts all of the user's, whatever they belong to.
    processes = settings["processes"] + tasks_of(user)
    for what, most in (
        (resource.RLIMIT_NPROC, processes),
        (resource.RLIMIT_DATA, settings["memoryBytes"]),
        (resource.RLIMIT_FSIZE, settings["fileBytes"]),
        (resource.RLIMIT_NOFILE, 1024),
        (resource.RLIMIT_CORE, 0),
    ):
        ceiling = resource.getrlimit(what)[1]
        most = most if ceiling == resource.RLIM_INFINITY else min(most, ceiling)
        resource.setrlimit(what, (most, most))


def tasks_of(user):
    count = 0
    for process in processes():
        try:
            if os.stat(f"/proc/{process}").st_uid == user:
                count += len(os.listdir(f"/proc/{process}/task"))
        except OSError:
            pass
    return count


def processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def descendants():
    children = {}
    for process in processes():
        try:
            with open(f"/proc/{process}/stat", "rb") as file:
                parent = int(file.read().rpartition(b")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(process)
    found = [os.getpid()]
    for process in found:
        found += children.get(process, [])
    return found[1:]


def end_descendants():
    """What is stopped starts nothing new. Orphans become children of this process: without children, it has no more."""
    while True:
        stopped = set()
        while not stopped.issuperset(found := descendants()):
            for process in found:
                send(process, signal.SIGSTOP)
            stopped.update(found)
        for process in stopped:
            send(process, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def send(process, what):
    try:
        os.kill(process, what)
    except (ProcessLookupError, PermissionError):
        pass


class Told(BaseException):
    pass


def told(*_):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Told


def become_command(settings):
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # Python ignores it, and what is ignored stays so: `yes | head` would complain instead of ending.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.setsid()
    os.chdir(settings["workspace"])
    owner = settings.get("owner")
    limit(settings, owner["uid"] if owner else os.getuid())
    if owner:
        os.setgroups([])
        os.setresgid(owner["gid"], owner["gid"], owner["gid"])
        os.setresuid(owner["uid"], owner["uid"], owner["uid"])
    # Folders above it may be closed to this user.
    home = settings["workspace"] if os.access(settings["workspace"], os.X_OK) else settings["temporary"]
    checked(libc.prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    writable = [".", settings["temporary"]]
    restrict_files(version(), settings["readable"], writable, settings["devices"])
    if settings["filter"]:
        filter_calls(bytes.fromhex(settings["filter"]))
    command = settings["argv"]
    # What the server itself was started with.
    os.closerange(3, 1 << 20)
    try:
        os.execvpe(command[0], command, {"HOME": home, **settings["environment"]})
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def main():
    if sys.argv[1] == "version":
        print(version())
        return 0
    status = 0
    try:
        signal.signal(signal.SIGTERM, told)
        with open(3) as file:
            settings = json.load(file)
        parent = os.getppid()
        checked(libc.prctl(SET_SUBREAPER, 1, 0, 0, 0))
        checked(libc.prctl(SET_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0))
        if parent != settings["server"]:
            return 1
        child = os.fork()
        if child == 0:
            try:
                become_command(settings)
            except BaseException as error:
                os.write(2, f"{settings['failed']}: {error}\n".encode())
            os._exit(125)
        while (ended := os.waitpid(-1, 0))[0] != child:
            pass
        status = ended[1]
    except Told:
        status = signal.SIGKILL
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    end_descendants()
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


sys.exit(main())
