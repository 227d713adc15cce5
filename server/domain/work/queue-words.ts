import { z } from 'zod';
import { commandNames } from '#protocol/index.ts';

/** Why something in a queue waits. Each has its text in `locales/<language>/reports.json` under `queue.reason.<code>`. */
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

const reason = z
  .object({
    code: z.enum(queueReasonCodes),
    params: z.record(z.string(), z.string()).describe('The values in the sentence, such as the other extension.'),
  })
  .meta({ id: 'QueueReason', description: 'What an entry waits for.' });
export type QueueReason = z.infer<typeof reason>;

const entry = z
  .object({
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
    reason: reason.nullable().describe('Why it waits; null if it does not.'),
  })
  .meta({ id: 'QueueEntry' });
export type QueueEntry = z.infer<typeof entry>;

/** What a VM does now, next and later. Also part of the API. */
export const queue = z
  .object({
    now: entry.nullable(),
    next: z.array(entry).describe('In the order in which it runs.'),
    waiting: z.array(entry).describe('In the order in which it would run.'),
  })
  .meta({ id: 'Queue' });
export type Queue = z.infer<typeof queue>;
