/** Returns the status for a share of VMs with a failed extension: failed from 5%, warning from 1%, otherwise null. */
export function rateStatus(share: number): 'failed' | 'warning' | null {
  if (share >= 0.05) return 'failed';
  return share >= 0.01 ? 'warning' : null;
}
