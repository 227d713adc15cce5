/**
 * Returns a timeout in the largest unit that shows it exactly: 300 seconds become 5 minutes, but 90 seconds stay 90
 * seconds.
 */
export function limitUnit(seconds: number): { unit: 's' | 'min' | 'h'; n: number } {
  if (seconds > 0 && seconds % 3600 === 0) return { unit: 'h', n: seconds / 3600 };
  if (seconds > 0 && seconds % 60 === 0) return { unit: 'min', n: seconds / 60 };
  return { unit: 's', n: seconds };
}
