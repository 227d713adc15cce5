/** The URL of the VMs that have an older version of the handler and can run a newer one. */
export function rollOutAddress(handler: string, version: string): string {
  return `/vms?${new URLSearchParams({ handler, olderThan: version, updateAvailable: 'yes' })}`;
}

/** Whether VMs have a version that comes after this one in the list, in which the highest version is first. */
export function hasOlderOnVms(versions: readonly { version: string; vms: number }[], version: string): boolean {
  const at = versions.findIndex((each) => each.version === version);
  return at >= 0 && versions.slice(at + 1).some(({ vms }) => vms > 0);
}
