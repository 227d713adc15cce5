import { executionLimits } from '#protocol/executions/limits.ts';

/** The units of a timeout, in seconds. */
export const units = { s: 1, min: 60, h: 3_600 } as const;
export type TermUnit = keyof typeof units;

/** The terms as the reader enters them. */
export interface Terms {
  time: string;
  unit: TermUnit;
  validForSeconds: number;
  note: string;
}

/** Returns the terms with which a form starts, with the timeout in the largest unit that is exact. */
export function termsFrom({
  timeoutSeconds,
  validForSeconds,
}: {
  timeoutSeconds: number;
  validForSeconds: number;
}): Terms {
  const unit = timeoutSeconds % units.h === 0 ? 'h' : timeoutSeconds % units.min === 0 ? 'min' : 's';
  return { time: String(timeoutSeconds / units[unit]), unit, validForSeconds, note: '' };
}

export const firstTerms: Terms = termsFrom({
  timeoutSeconds: executionLimits.timeoutSeconds.usual,
  validForSeconds: executionLimits.validForSeconds.usual,
});

/** Returns the terms as the portal expects them; null while the timeout is not valid. */
export function termsOf({ time, unit, validForSeconds, note }: Terms) {
  const { least, most } = executionLimits.timeoutSeconds;
  const timeoutSeconds = /^\d{1,7}$/.test(time.trim()) ? Number(time) * units[unit] : 0;
  if (timeoutSeconds < least || timeoutSeconds > most) return null;
  return { timeoutSeconds, validForSeconds, ...(note.trim() !== '' && { note: note.trim() }) };
}
