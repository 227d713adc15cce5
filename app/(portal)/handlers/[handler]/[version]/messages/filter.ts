import { differenceOf } from './message-row.tsx';
import type { EditedMessages } from './use-messages.ts';

export const filters = ['all', 'missing', 'differing'] as const;
export type MessageFilter = (typeof filters)[number];

/** Whether the table shows a message, given the filter (missing texts or different placeholders) and the search. */
export function fits(
  { textOf }: Pick<EditedMessages, 'textOf'>,
  languages: readonly string[],
  id: string,
  { search, filter }: { search: string; filter: MessageFilter },
): boolean {
  if (filter === 'missing' && languages.every((lang) => textOf(lang, id).trim() !== '')) return false;
  if (filter === 'differing' && languages.every((lang) => differenceOf({ textOf }, lang, id) === undefined))
    return false;
  const wanted = search.trim().toLowerCase();
  if (wanted === '' || id.toLowerCase().includes(wanted)) return true;
  return languages.some((lang) => textOf(lang, id).toLowerCase().includes(wanted));
}
