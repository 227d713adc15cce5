import { z } from 'zod';
import { commandNames } from '#protocol/index.ts';

/**
 * The reasons why an entry of a queue waits. Each code has a text in `locales/<language>/reports.json` under
 * `queue.reason.<code>`.
 */
export const queueReasonCodes = [
  'approval',
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

const queueCall = z.object({
  n: z.int().positive(),
  script: z.string().nullable().describe('The script; null for a call of `api`.'),
  function: z.string().nullable(),
});

export const queueEntry = z.object({
  kind: z.enum(['extension', 'execution']).describe('Whether this is a command of an extension or an execution.'),
  id: z.uuid().nullable().describe('The execution; null for an extension.'),
  name: z
    .string()
    .describe(
      'The extension. If several extensions share the command, the first of these extensions. For an execution, the ' +
        'name of its plan; empty if the plan has no name.',
    ),
  handler: z.string().nullable().describe('Null for an execution.'),
  step: z.enum(commandNames).nullable().describe('The command; null if it is not known yet, and for an execution.'),
  version: z
    .string()
    .nullable()
    .describe('The version of the handler whose command runs. For an execution, the version of its plan.'),
  call: queueCall
    .nullable()
    .describe('The call of the execution’s Body that is running; null if no call is running, and for an extension.'),
  turn: z
    .int()
    .nonnegative()
    .nullable()
    .describe('The turn of the execution, or of the goal state that requires the command; null if unknown.'),
  askedBy: z.string().nullable(),
  askedAt: z.iso.datetime().nullable(),
  since: z.iso
    .datetime()
    .nullable()
    .describe('When the command or the execution was reported as running; null if it is not running.'),
  validUntil: z.iso
    .datetime()
    .nullable()
    .describe('When a waiting execution expires; null if the machine has it, and for an extension.'),
  limitSeconds: z.number().nonnegative().nullable().describe('The timeout of the command or the execution in seconds.'),
  reason: queueReason.nullable().describe('Why the entry waits; null if it does not wait.'),
});
export type QueueEntry = z.infer<typeof queueEntry>;

/** What a VM is running, what it runs next, and what waits. Also part of the API. */
export const queue = z.object({
  now: queueEntry.nullable(),
  next: z.array(queueEntry).describe('In the order in which the entries will run.'),
  waiting: z.array(queueEntry).describe('In the order in which the entries would run.'),
});
export type VmQueue = z.infer<typeof queue>;
