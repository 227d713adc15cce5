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
  'hook_after',
  'hook_failed',
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

const queueHook = z.object({
  model: z.string(),
  hook: z.string(),
  remoteUnit: z.string().nullable().describe('The member that a hook of a relation is for; otherwise null.'),
  nextAttemptBefore: z.iso
    .datetime()
    .nullable()
    .describe('With the reason `hook_failed`, the time before which the hook runs again; null if unknown.'),
});

export const queueEntry = z.object({
  kind: z
    .enum(['extension', 'execution', 'hook'])
    .describe('Whether this is a command of an extension, an execution, or a hook of a unit.'),
  id: z
    .uuid()
    .nullable()
    .describe('The execution; for a hook that is running, its run. Null for an extension, and for another hook.'),
  name: z
    .string()
    .describe(
      'The extension. If several extensions share the command, the first of these extensions. For an execution, the ' +
        'name of its plan; empty if the plan has no name. For a hook, the unit, such as `blog/0`.',
    ),
  handler: z.string().nullable().describe('Null for an execution and for a hook.'),
  step: z
    .enum(commandNames)
    .nullable()
    .describe('The command; null if it is not known yet, for an execution and for a hook.'),
  version: z
    .string()
    .nullable()
    .describe(
      'The version of the handler whose command runs. For an execution, the version of its plan; for a hook, the ' +
        'version of the formula that the unit should have.',
    ),
  hook: queueHook.nullable().describe('Null for an extension and for an execution.'),
  call: queueCall.nullable().describe('The call of the execution’s Body that is running; null if no call is running.'),
  turn: z
    .int()
    .nonnegative()
    .nullable()
    .describe(
      'The turn of the execution, of the unit, or of the goal state that requires the command. Null if unknown, and ' +
        'for a hook of a relation: such a hook runs after everything that has a turn.',
    ),
  askedBy: z.string().nullable(),
  askedAt: z.iso.datetime().nullable(),
  since: z.iso
    .datetime()
    .nullable()
    .describe('When the command, the execution or the hook was reported as running; null if it is not running.'),
  validUntil: z.iso
    .datetime()
    .nullable()
    .describe('When a waiting execution expires; null if the machine has it, for an extension and for a hook.'),
  limitSeconds: z
    .number()
    .nonnegative()
    .nullable()
    .describe('The timeout of the command, the execution or the running hook in seconds.'),
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
