/** Returns the status for a share of failed extensions: null below 1%, failed at 5% or more, warning in between. */
export function rateStatus(share: number): 'failed' | 'warning' | null {
  if (share >= 0.05) return 'failed';
  return share >= 0.01 ? 'warning' : null;
}
