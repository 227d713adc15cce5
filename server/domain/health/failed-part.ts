import type { StatusObject } from '#protocol/index.ts';

/**
 * SQL for the first substatus with an error, depth first, below a status that is not an error; null if there is none.
 * Documents that do not contain the word `error` are not parsed. `firstFailedPart` is the same rule in TypeScript; a
 * test compares the two.
 */
export const failedPart = (status: string, word: string): string => `case
    when ${word} <> 'error' and ${status}::text like '%"error"%' then jsonb_path_query_first(
      ${status}::jsonb, 'strict $.substatus.** ? (@.type() == "object" && @.status == "error")', '{}', true)
    end`;

/** Returns the first substatus with an error, depth first, below a status that is not an error (AZ-S6). */
export function firstFailedPart(status: StatusObject): StatusObject | null {
  return status.status === 'error' ? null : failedBelow(status);
}

function failedBelow({ substatus }: StatusObject): StatusObject | null {
  for (const part of substatus) {
    const found = part.status === 'error' ? part : failedBelow(part);
    if (found !== null) return found;
  }
  return null;
}
