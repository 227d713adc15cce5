/**
 * Returns the parts of a short duration: milliseconds below one second, seconds below one minute (with one decimal
 * place below ten seconds), otherwise a clock such as `4:16` or `1:00:00`.
 */
export function shortDuration(ms: number): { unit: 'ms' | 's'; n: number } | { unit: 'clock'; text: string } {
  if (ms < 1_000) return { unit: 'ms', n: Math.round(ms) };
  if (ms < 10_000) return { unit: 's', n: Math.floor(ms / 100) / 10 };
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 60) return { unit: 's', n: seconds };
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const shown = parts[0] === 0 ? parts.slice(1) : parts;
  const text = shown.map((part, index) => (index === 0 ? String(part) : String(part).padStart(2, '0'))).join(':');
  return { unit: 'clock', text };
}
