import { z } from 'zod';
import { commandNames } from '#protocol/index.ts';

/**
 * Why something in a queue waits. Each code has a text in `locales/<language>/reports.json` under
 * `queue.reason.<code>`.
 */
export const queueReasonCodes = [
  'dependency',
  'dependency_failed',
  'download',
  'hold',
  'never',
  'release',
  'restart',
  'secrets',
  'silent',
] as const;

export const queueReason = z
  .object({
    code: z.enum(queueReasonCodes),
    params: z.record(z.string(), z.string()).describe('The values in the sentence, such as the other extension.'),
  })
  .describe('What an entry waits for.');
export type QueueReason = z.infer<typeof queueReason>;

export const queueEntry = z.object({
  kind: z.literal('extension'),
  name: z.string().describe('The extension; the first of those that share the command.'),
  handler: z.string().nullable(),
  step: z.enum(commandNames).nullable().describe('The command; null where it is not known yet.'),
  version: z.string().nullable().describe('The version whose command it is.'),
  turn: z.int().nonnegative().nullable().describe('The turn of the change that asked for it; null if unknown.'),
  askedBy: z.string().nullable(),
  askedAt: z.iso.datetime().nullable(),
  since: z.iso.datetime().nullable().describe('Of the entry that runs now: when it began.'),
  limitSeconds: z.number().nonnegative().nullable().describe('Seconds after which the command is ended.'),
  reason: queueReason.nullable().describe('Why it waits; null if it does not.'),
});
export type QueueEntry = z.infer<typeof queueEntry>;

/** What a VM does now, next and later. Also part of the API. */
export const queue = z.object({
  now: queueEntry.nullable(),
  next: z.array(queueEntry).describe('In the order in which it runs.'),
  waiting: z.array(queueEntry).describe('In the order in which it would run.'),
});
export type VmQueue = z.infer<typeof queue>;
