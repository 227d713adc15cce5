import { z } from 'zod';
import { type QueueEntry, queue, queueEntry, queueReason, type VmQueue } from '#server/domain/work/index.ts';
import type { Language } from './languages.ts';
import { translate } from './translator.ts';

/** A queue entry whose reason includes a sentence. */
const shownEntry = queueEntry.extend({
  reason: queueReason
    .extend({ text: z.string().describe('The reason in the language of the caller.') })
    .meta({ id: 'QueueReason' })
    .nullable(),
});
export const shownQueue = queue.extend({
  now: shownEntry.nullable(),
  next: z.array(shownEntry),
  waiting: z.array(shownEntry),
});
export type ShownQueue = z.infer<typeof shownQueue>;

/** Adds a sentence to the reason of each entry. */
export function translateQueue({ now, next, waiting }: VmQueue, language: Language): ShownQueue {
  const inWords = (entry: QueueEntry) => ({
    ...entry,
    reason: entry.reason && {
      ...entry.reason,
      text: translate(language, 'reports', `queue.reason.${entry.reason.code}`, entry.reason.params),
    },
  });
  return { now: now && inWords(now), next: next.map(inWords), waiting: waiting.map(inWords) };
}
