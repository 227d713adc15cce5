import type { StatusObject } from '#protocol/index.ts';

/**
 * SQL: the first substatus with an error, depth first, under a status with another word; null where there is none. A
 * document without the word in it is not parsed. `firstFailedPart` finds the same; a test compares them.
 */
export const failedPart = (status: string, word: string): string => `case
    when ${word} <> 'error' and ${status}::text like '%"error"%' then jsonb_path_query_first(
      ${status}::jsonb, 'strict $.substatus.** ? (@.type() == "object" && @.status == "error")', '{}', true)
    end`;

/** The first substatus with an error, depth first, under a status with another word (AZ-S6). */
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
