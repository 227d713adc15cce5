import { z } from 'zod';
import { commandNames } from '#protocol/index.ts';

/**
 * The reasons why an entry of a queue waits. Each code has a text in `locales/<language>/reports.json` under
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
    params: z.record(z.string(), z.string()).describe('The values in `text`, such as the name of the other extension.'),
  })
  .describe('What an entry waits for.');
export type QueueReason = z.infer<typeof queueReason>;

export const queueEntry = z.object({
  kind: z.literal('extension'),
  name: z.string().describe('The extension. If several extensions share the command, the first of these extensions.'),
  handler: z.string().nullable(),
  step: z.enum(commandNames).nullable().describe('The command; null if it is not known yet.'),
  version: z.string().nullable().describe('The version of the handler whose command runs.'),
  turn: z
    .int()
    .nonnegative()
    .nullable()
    .describe('The turn of the goal state that requires the command; null if unknown.'),
  askedBy: z.string().nullable(),
  askedAt: z.iso.datetime().nullable(),
  since: z.iso
    .datetime()
    .nullable()
    .describe('When the command was reported as running; null if the command is not running.'),
  limitSeconds: z.number().nonnegative().nullable().describe('The timeout of the command in seconds.'),
  reason: queueReason.nullable().describe('Why the entry waits; null if it does not wait.'),
});
export type QueueEntry = z.infer<typeof queueEntry>;

/** The command that a VM is running, the commands that run next, and those that wait. Also part of the API. */
export const queue = z.object({
  now: queueEntry.nullable(),
  next: z.array(queueEntry).describe('In the order in which the commands will run.'),
  waiting: z.array(queueEntry).describe('In the order in which the commands would run.'),
});
export type VmQueue = z.infer<typeof queue>;
