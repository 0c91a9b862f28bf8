"""Which system calls jailed code may make, by name, with their numbers on x86-64 and aarch64 (`-`: not there).

All that is not named is refused with EPERM: fork, exec, threads, kill, ptrace, process_vm_*, pidfd_*, sockets,
io_uring, bpf, perf, keys, mounts, namespaces, System V IPC, message queues, memfd, userfaultfd, chmod and the rest.
"""

COMPUTE = """
read:0:63 write:1:64 readv:19:65 writev:20:66 pread64:17:67 lseek:8:62 close:3:57 close_range:436:436 fstat:5:80
newfstatat:262:79 stat:4:- lstat:6:- statx:332:291 open:2:- openat:257:56 readlink:89:- readlinkat:267:78
getdents:78:- getdents64:217:61 access:21:- faccessat:269:48 faccessat2:439:439 getcwd:79:17 chdir:80:49
umask:95:166 fadvise64:221:223 statfs:137:43 fstatfs:138:44 dup:32:23 dup2:33:- dup3:292:24 pipe:22:- pipe2:293:59
poll:7:- ppoll:271:73 select:23:- pselect6:270:72 mmap:9:222 munmap:11:215 mprotect:10:226 mremap:25:216
madvise:28:233 brk:12:214 futex:202:98 exit:60:93 exit_group:231:94 restart_syscall:219:128 rt_sigaction:13:134
rt_sigprocmask:14:135 rt_sigreturn:15:139 rt_sigpending:127:136 rt_sigtimedwait:128:137 sigaltstack:131:132
setitimer:38:103 getitimer:36:102 alarm:37:- pause:34:- nanosleep:35:101 gettimeofday:96:169 time:201:- getpid:39:172 getppid:110:173
gettid:186:178 getuid:102:174 geteuid:107:175 getgid:104:176 getegid:108:177 getresuid:118:148 getresgid:120:150
getgroups:115:158 getrandom:318:278 uname:63:160 getrusage:98:165 times:100:153 getrlimit:97:163
setrlimit:160:164 sched_yield:24:124 getcpu:309:168 rseq:334:293 set_robust_list:273:99
"""

# For python() with a process tree of its own: its PID namespace and its folder hold what these can do.
PROCESSES = """
fork:57:- vfork:58:- execve:59:221 wait4:61:260 waitid:247:95 kill:62:129 tkill:200:130 tgkill:234:131
setpgid:109:154 getpgid:121:155 getpgrp:111:- setsid:112:157 getsid:124:156 pwrite64:18:68 pwritev:296:70
preadv:295:69 mkdir:83:- mkdirat:258:34 rmdir:84:- unlink:87:- unlinkat:263:35 rename:82:- renameat:264:38
renameat2:316:276 symlink:88:- symlinkat:266:36 link:86:- linkat:265:37 chmod:90:- fchmod:91:52 fchmodat:268:53
truncate:76:45 ftruncate:77:46 fallocate:285:47 fsync:74:82 fdatasync:75:83 flock:73:32 utimensat:280:88
utime:132:- utimes:235:- fchdir:81:50 copy_file_range:326:285 sendfile:40:71 socketpair:53:199 sendmsg:46:211
recvmsg:47:212 sendto:44:206 recvfrom:45:207 shutdown:48:210 getsockopt:55:209 setsockopt:54:208
epoll_create:213:- epoll_create1:291:20 epoll_ctl:233:21 epoll_wait:232:- epoll_pwait:281:22 eventfd2:290:19
timerfd_create:283:85 timerfd_settime:286:86 arch_prctl:158:- set_tid_address:218:96 sched_getparam:143:121
sched_getscheduler:145:120 sched_get_priority_max:146:125 sched_get_priority_min:147:126 sysinfo:99:179
"""

# For the commands of a workspace, which have a process tree and folders of their own: what shells and their programs add.
SHELL = """
rt_sigsuspend:130:133 timer_create:222:107 timer_settime:223:110 timer_gettime:224:108 timer_getoverrun:225:109
timer_delete:226:111 mknod:133:- mknodat:259:33 getxattr:191:8 lgetxattr:192:9 fgetxattr:193:10 listxattr:194:11
llistxattr:195:12 flistxattr:196:13 setxattr:188:5 lsetxattr:189:6 fsetxattr:190:7 fchmodat2:452:452 openat2:437:437
msync:26:227 splice:275:76 sync_file_range:277:84 getpeername:52:205
"""
# What of all that reaches beyond folders and processes of one's own, where these are not apart.
SIGNALS = "kill tkill tgkill".split()
GROUPS = "setpgid setsid".split()
FILE_MODES = "chmod fchmod fchmodat fchmodat2 utimensat utime utimes setxattr lsetxattr fsetxattr".split()

# Allowed only when one argument has one of these values: name -> (number, number, argument, values).
# fcntl could send signals through F_SETOWN, prlimit could starve a sibling, ioctl could type into a terminal, clocks could
# tell the CPU time of another process, by which questions under way at once could talk.
_CLOCKS = tuple(range(12))  # of this machine, and of oneself
CHECKED = {
    "fcntl": (72, 25, 1, (0, 1, 2, 3, 4, 1030, 1032)),  # dup, get and set flags, pipe size
    "ioctl": (16, 29, 1, (0x5401, 0x5450, 0x5451, 0x5413, 0x541B, 0x5421)),  # isatty, close-on-exec, size, bytes left
    "prlimit64": (302, 261, 0, (0,)),  # of oneself
    "sched_getaffinity": (204, 123, 0, (0,)),
    "clock_gettime": (228, 113, 0, _CLOCKS),
    "clock_getres": (229, 114, 0, _CLOCKS),
    "clock_nanosleep": (230, 115, 0, _CLOCKS),
}
LOCKS = {"fcntl": (72, 25, 1, (*CHECKED["fcntl"][3], 5, 6, 7, 36, 37, 38))}  # of files, in a workspace: databases do
CLONE = (56, 220)
CLONE3 = (435, 435)
NEW_NAMESPACES = 0x7E020080  # CLONE_NEW* of clone()


def numbers(table: str, machine: str, without: list[str] = ()) -> list[int]:
    """The numbers of `table` on `machine` (x86_64 or aarch64), ascending; those named in `without` are left out."""
    column = 1 if machine == "x86_64" else 2
    found = [entry.split(":")[column] for entry in table.split() if entry.split(":")[0] not in without]
    return sorted(int(number) for number in found if number != "-")
