/** Returns the URL of the list of VMs that have an older version of the handler and can run a newer version. */
export function rollOutAddress(handler: string, version: string): string {
  return `/vms?${new URLSearchParams({ handler, olderThan: version, updateAvailable: 'yes' })}`;
}

/** Whether any VM has a version that comes after this version in the list. The list starts with the highest version. */
export function hasOlderOnVms(versions: readonly { version: string; vms: number }[], version: string): boolean {
  const at = versions.findIndex((each) => each.version === version);
  return at >= 0 && versions.slice(at + 1).some(({ vms }) => vms > 0);
}
