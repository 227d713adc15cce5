/** Returns the status for a share of failed extensions: null below one in a hundred, failed from one in twenty. */
export function rateStatus(share: number): 'failed' | 'warning' | null {
  if (share >= 0.05) return 'failed';
  return share >= 0.01 ? 'warning' : null;
}
