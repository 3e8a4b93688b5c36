/**
 * A filter of system calls as classic BPF, for `bwrap --seccomp`: refuses what reaches into other processes, the kernel
 * or new namespaces, and what programs in a sandbox have no use for. Everything else stays allowed.
 */

/** linux/audit.h: AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64. */
const audits = { x64: 0xc000_003e, arm64: 0xc000_00b7 } as const;
type Architecture = keyof typeof audits;

/** The numbers of the calls on x86-64 and on arm64; undefined where a machine has no such call. */
type SyscallNumbers = readonly [x64: number, arm64: number | undefined];

/** They answer EPERM. */
const refused: Readonly<Record<string, SyscallNumbers>> = {
  // Other processes and the kernel's keys.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // Wide surfaces of the kernel.
  bpf: [321, 280],
  userfaultfd: [323, 282],
  perf_event_open: [298, 241],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  fanotify_init: [300, 262],
  modify_ldt: [154, undefined],
  lookup_dcookie: [212, 18],
  move_pages: [279, 239],
  migrate_pages: [256, 238],
  // Mounts, namespaces, files by handle.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  unshare: [272, 97],
  setns: [308, 268],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  // The machine.
  syslog: [103, 116],
  acct: [163, 89],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  iopl: [172, undefined],
  ioperm: [173, undefined],
  vhangup: [153, 58],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
};
export const refusedCalls = Object.keys(refused);
const clone: SyscallNumbers = [56, 220];
const clone3: SyscallNumbers = [435, 435];
/** It makes gigabytes at once, faster than anybody can look; programs know how to do without it. */
const fallocate: SyscallNumbers = [285, 47];
const ioctl: SyscallNumbers = [16, 29];
const socket: SyscallNumbers = [41, 198];

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
export const newNamespaces = 0x7e02_0000;
/** They put characters into a terminal's input. */
export const terminalInput = { TIOCSTI: 0x5412, TIOCLINUX: 0x541c };
/** FS_IOC_RESVSP, its 64-bit form and FS_IOC_ZERO_RANGE: the same as fallocate. */
export const reservations = { RESVSP: 0x4030_5828, RESVSP64: 0x4030_582a, ZERO_RANGE: 0x4030_5839 };
/** Vsock would reach the machine's host past the network namespace; the rest is surface. */
export const socketFamilies = { AF_UNIX: 1, AF_INET: 2, AF_INET6: 10, AF_NETLINK: 16 };

export const errors = { EPERM: 1, ENOSYS: 38, EOPNOTSUPP: 95, EAFNOSUPPORT: 97 };
const allow = 0x7fff_0000;
const errorOf = (number: number) => 0x0005_0000 | number;

/** Where `struct seccomp_data` has what is looked at; arguments are read by their low halves. */
const offsets = { number: 0, architecture: 4, firstArgument: 16, secondArgument: 24 };

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];
const load = (offset: number): Instruction => [0x20, 0, 0, offset];
const answer = (value: number): Instruction => [0x06, 0, 0, value];
/** Skip so many instructions if the loaded value is equal to, at least, or has any bit of `value`; else the other. */
const equal = (value: number, ifTrue: number, ifFalse: number): Instruction => [0x15, ifTrue, ifFalse, value];
const atLeast = (value: number, ifTrue: number, ifFalse: number): Instruction => [0x35, ifTrue, ifFalse, value];
const anyBit = (value: number, ifTrue: number, ifFalse: number): Instruction => [0x45, ifTrue, ifFalse, value];

/** The filter for this machine's processor; undefined for one without a table here. */
export function seccompFilter(
  architecture: string = process.arch,
  families: readonly number[] = Object.values(socketFamilies),
): Buffer | undefined {
  if (architecture !== "x64" && architecture !== "arm64") return undefined;
  const instructions = program(architecture, families);
  const bytes = Buffer.alloc(instructions.length * 8);
  for (const [index, [code, ifTrue, ifFalse, value]] of instructions.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
}

function program(architecture: Architecture, families: readonly number[]): readonly Instruction[] {
  const numberOf = ([x64, arm64]: SyscallNumbers) => (architecture === "x64" ? x64 : arm64);
  const when = (numbers: SyscallNumbers, then: readonly Instruction[]): Instruction[] => {
    const number = numberOf(numbers);
    return number === undefined ? [] : [equal(number, 0, then.length), ...then];
  };
  return [
    load(offsets.architecture),
    // Calls by another table (32-bit programs) would pass by the numbers below.
    equal(audits[architecture], 1, 0),
    answer(errorOf(errors.EPERM)),
    load(offsets.number),
    // The x32 table, for the same reason.
    ...(architecture === "x64" ? [atLeast(0x4000_0000, 0, 1), answer(errorOf(errors.EPERM))] : []),
    ...Object.values(refused).flatMap((numbers) => when(numbers, [answer(errorOf(errors.EPERM))])),
    // Its flags lie in memory, where a filter can't look; programs then use clone.
    ...when(clone3, [answer(errorOf(errors.ENOSYS))]),
    ...when(clone, [
      load(offsets.firstArgument),
      anyBit(newNamespaces, 0, 1),
      answer(errorOf(errors.EPERM)),
      answer(allow),
    ]),
    ...when(ioctl, [
      load(offsets.secondArgument),
      equal(terminalInput.TIOCSTI, 1, 0),
      equal(terminalInput.TIOCLINUX, 0, 1),
      answer(errorOf(errors.EPERM)),
      equal(reservations.RESVSP, 2, 0),
      equal(reservations.RESVSP64, 1, 0),
      equal(reservations.ZERO_RANGE, 0, 1),
      answer(errorOf(errors.EOPNOTSUPP)),
      answer(allow),
    ]),
    ...when(fallocate, [answer(errorOf(errors.EOPNOTSUPP))]),
    ...when(socket, [
      load(offsets.firstArgument),
      ...families.map((family, index) => equal(family, families.length - index, 0)),
      answer(errorOf(errors.EAFNOSUPPORT)),
      answer(allow),
    ]),
    answer(allow),
  ];
}
