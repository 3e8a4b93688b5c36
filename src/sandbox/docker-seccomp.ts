import { errors, newNamespaces, refusedCalls, socketFamilies, terminalInput } from "./seccomp.ts";

/** The same filter of system calls as elsewhere, as engines of containers read it. */
export function containerFilter(): object {
  const refuse = (names: readonly string[], errnoRet: number, args: readonly object[] = []) => ({
    names,
    action: "SCMP_ACT_ERRNO",
    errnoRet,
    args,
  });
  const is = (index: number, value: number) => ({ index, value, op: "SCMP_CMP_EQ" });
  const { EPERM, ENOSYS, EAFNOSUPPORT } = errors;
  return {
    defaultAction: "SCMP_ACT_ALLOW",
    syscalls: [
      refuse(refusedCalls, EPERM),
      refuse(["clone3"], ENOSYS),
      ...bitsOf(newNamespaces).map((bit) =>
        refuse(["clone"], EPERM, [{ index: 0, value: bit, valueTwo: bit, op: "SCMP_CMP_MASKED_EQ" }]),
      ),
      ...Object.values(terminalInput).map((request) => refuse(["ioctl"], EPERM, [is(1, request)])),
      ...otherFamilies().map((family) => refuse(["socket"], EAFNOSUPPORT, [is(0, family)])),
    ],
  };
}

/** A rule names one value: there are so many families today, and some room for new ones. */
const families = 64;

function otherFamilies(): number[] {
  const allowed: readonly number[] = Object.values(socketFamilies);
  return Array.from({ length: families }, (_, family) => family).filter((family) => !allowed.includes(family));
}

function bitsOf(mask: number): number[] {
  return Array.from({ length: 32 }, (_, bit) => 2 ** bit).filter((bit) => (mask & bit) !== 0);
}
