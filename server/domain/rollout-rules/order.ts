import { createHash } from 'node:crypto';

/** Returns the key by which a ring orders its members (RO-7): the MD5, in hexadecimal, of both ids. */
export const orderKey = (rolloutId: string, vmId: string): string =>
  createHash('md5').update(`${rolloutId}/${vmId}`).digest('hex');

/** Returns the ids in the order of the rollout. It is the same for the same ids, in whatever order they are given. */
export function orderMembers(rolloutId: string, vmIds: readonly string[]): string[] {
  const keyed = vmIds.map((vmId) => ({ vmId, key: orderKey(rolloutId, vmId) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ vmId }) => vmId);
}
