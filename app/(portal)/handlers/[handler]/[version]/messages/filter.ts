import { differenceOf } from './message-row.tsx';
import type { Messages } from './use-messages.ts';

export const filters = ['all', 'missing', 'differing'] as const;
export type Shown = (typeof filters)[number];

/** Whether a message belongs into the table: by what its texts in these languages lack, and by what is searched for. */
export function fits(
  { textOf }: Pick<Messages, 'textOf'>,
  languages: readonly string[],
  id: string,
  { search, shown }: { search: string; shown: Shown },
): boolean {
  if (shown === 'missing' && languages.every((lang) => textOf(lang, id).trim() !== '')) return false;
  if (shown === 'differing' && languages.every((lang) => differenceOf({ textOf }, lang, id) === undefined))
    return false;
  const wanted = search.trim().toLowerCase();
  if (wanted === '' || id.toLowerCase().includes(wanted)) return true;
  return languages.some((lang) => textOf(lang, id).toLowerCase().includes(wanted));
}
