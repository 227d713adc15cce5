import { z } from 'zod';
import type { RefusedFile } from '#db/schema/index.ts';
import { commandNames, handlerStates, statusWords } from '#protocol/index.ts';
import { count, time } from '#server/domain/answers.ts';
import { hold } from '#server/domain/holds/index.ts';
import { localizedMessage } from '#server/domain/localization/index.ts';
import { series } from '#server/domain/retries/index.ts';
import {
  agentStatuses,
  explanation,
  extensionHealths,
  healthCauses,
  heartbeatVerdicts,
  notice,
  vmHealths,
} from '#server/domain/verdicts/index.ts';
import { refusalCodes } from '#server/domain/vms/index.ts';
import { vmId } from '#server/domain/vms/input.ts';
import { agentKind, updateAvailable } from './machine.ts';

export const refusal = z.object({
  code: z.enum(refusalCodes),
  at: time,
  limitBytes: count.optional().describe('The exceeded limit, in bytes.'),
  keptFrom: time.optional().describe('With `history_cleared`: the time of the oldest report that is kept.'),
});
export type AgentRefusal = z.infer<typeof refusal>;

export const agentProblemView = z.object({
  /** What the problem is about: `goal-state`, `restart`, or an extension, by its name. */
  about: z.string(),
  /** The agent's own message, not localized. */
  message: z.string(),
  at: time,
});
export type AgentProblemView = z.infer<typeof agentProblemView>;

export const agentView = z.object({
  status: z.enum(agentStatuses),
  lastSeenAt: time.nullable(),
  /** The time by which the agent should call again. */
  nextExpectedAt: time.nullable(),
  kind: agentKind.nullable(),
  name: z.string().nullable(),
  version: z.string().nullable(),
  /** The version of the reference agent that Annex serves, if newer than the version of this agent; otherwise null. */
  availableVersion: z.string().nullable(),
  /** The agent's clock minus the portal's, in seconds. */
  clockSkewSeconds: z.number().nullable(),
  enrolledAt: time.nullable(),
  /** When a second machine with this VM's identity was last seen. */
  duplicateSeenAt: time.nullable(),
  /** Rejected calls and exceeded limits of the last day, newest first. Of each kind, only the last is listed. */
  refusals: z.array(refusal),
  /** When the hold began, who last set or changed it, why, and when it ends; null if there is no hold. */
  hold: hold.pick({ reason: true, until: true }).extend({ at: time, by: z.string() }).nullable(),
  /**
   * What the agent could not read or do within the last day and has not recovered from, newest first; for operators
   * only.
   */
  problems: z.array(agentProblemView).optional(),
});
export type AgentView = z.infer<typeof agentView>;

/** Installs that complete only after a restart of the machine (AZ-G8). */
export const pendingRestartView = z.object({
  since: time,
  /** The handlers that requested the restart, oldest first. */
  requests: z.array(
    z.object({
      handler: z.string(),
      version: z.string(),
      extensions: z.array(z.string()),
      since: time,
      /** Whether the agent restarts the machine itself; absent if the agent did not say. */
      byAgent: z.boolean().optional(),
    }),
  ),
});
export type PendingRestartView = z.infer<typeof pendingRestartView>;

export const handlerStateView = z.object({
  state: z.enum(handlerStates),
  command: z.enum(commandNames).nullable(),
  sequenceNumber: count,
  exitCode: z.number().int().nullable(),
  timedOut: z.boolean(),
  failed: z.boolean().describe('Whether the last command ended without success.'),
  attempt: count.nullable(),
  /** The end of the command's output; for operators only. */
  outputTail: z.string().nullable().optional(),
  /** The extension that this one waits for. */
  blockedBy: z.string().nullable(),
  at: time.nullable(),
});
export type HandlerStateView = z.infer<typeof handlerStateView>;

export const heartbeatView = z.object({
  verdict: z.enum(heartbeatVerdicts),
  /** The file's age now, if it has not been written since it was read. */
  ageSeconds: count.nullable(),
  code: z.number().int().nullable(),
  message: localizedMessage.nullable(),
  /** When the agent read the file, by the portal's clock. */
  readAt: time.nullable(),
  /** When the next reading is due, without the grace period. */
  nextReadingAt: time.nullable(),
});
export type HeartbeatView = z.infer<typeof heartbeatView>;

export const substatusView = z
  .object({
    name: z.string().nullable(),
    operation: z.string().nullable(),
    status: z.enum(statusWords),
    code: z.number().int().nullable(),
    message: localizedMessage.nullable(),
    get substatus() {
      return z.array(substatusView);
    },
  })
  .meta({ id: 'Substatus' });
export type SubstatusView = z.infer<typeof substatusView>;

export const statusView = substatusView.extend({
  /** Number of substatuses omitted, at all levels, because a view contains at most 4 MiB of handlers' messages. */
  omittedSubstatuses: count,
  sequenceNumber: count,
  configurationAppliedTime: z.string().nullable(),
  timestampUTC: z.string().nullable(),
  stale: z.boolean(),
  staleSeconds: count,
  readAt: time.nullable(),
});
export type StatusView = z.infer<typeof statusView>;

const refusedFile = z.custom<RefusedFile>();

export const extensionInstance = z.object({
  name: z.string(),
  handler: z.string(),
  goalVersion: z.string(),
  /** The version that the agent reported; null if it reported none. */
  version: z.string().nullable(),
  updateAvailable,
  goal: z.enum(['enabled', 'disabled', 'uninstall']),
  goalSequenceNumber: count,
  dependsOn: z.array(z.string()),
  changedAt: time,
  changedBy: z.string(),
  /** When the goal's sequence number was delivered to the agent. */
  deliveredAt: time.nullable(),
  /**
   * The time by which the goal must be concluded. Null while a hold or an execution pauses the deadline. Also null once
   * the goal is concluded, a command has failed, or the extension is disabled as declared.
   */
  deadlineAt: time.nullable(),
  /** When the first success or error of the goal's sequence number was reported. */
  concludedAt: time.nullable(),
  concludedWith: z.enum(['success', 'error']).nullable(),
  done: z.boolean().describe('Whether the goal has been reached.'),
  /**
   * Whether no copy of the protected settings is left. If so, the extension is not delivered until they are entered
   * again.
   */
  needsSecrets: z.boolean(),
  /**
   * Whether the protected settings are withheld from the machine's key. If so, the extension is not delivered until an
   * admin releases them.
   */
  needsRelease: z.boolean(),
  retries: series.nullable().describe('The scheduled retries; null if there are none.'),
  handlerState: handlerStateView.nullable(),
  heartbeat: heartbeatView,
  status: statusView.nullable(),
  /** The last status file, if it was invalid; `status` is the last valid status. */
  refusedStatus: refusedFile.nullable(),
  /** The last heartbeat file, if it was invalid. */
  refusedHeartbeat: refusedFile.nullable(),
  health: z.enum(extensionHealths),
  /** The cause of the health; null if the health has none, as for `healthy`. */
  cause: z.enum(healthCauses).nullable(),
  waiting: z
    .boolean()
    .describe('Whether the extension is progressing only because it is waiting for another extension.'),
  notice: notice.nullable().describe('The portal’s own message; null if the handler’s message applies.'),
  /**
   * The first substatus with an error, if the status itself is not an error. If `cause` is `substatus`, this substatus
   * is the reason for the health.
   */
  failedPart: substatusView.omit({ status: true, substatus: true }).nullable(),
});
export type ExtensionInstance = z.infer<typeof extensionInstance>;

/**
 * The latest reports about a VM together with its goal, in one response (AZ-S6). Times are ISO 8601, and ages are in
 * seconds.
 */
export const instanceView = z.object({
  vmId,
  name: z.string(),
  incarnation: count,
  publishedAt: time.nullable(),
  /** Incarnation of the newest goal state delivered to the agent; 0 if none was delivered. */
  deliveredIncarnation: count,
  deliveredAt: time.nullable(),
  agent: agentView,
  /** Sorted by health, worst first, then by name. */
  extensions: z.array(extensionInstance),
  /** Null if no restart of the machine is pending. */
  pendingRestart: pendingRestartView.nullable(),
  units: z
    .object({
      unit: z.string(),
      health: z.enum(vmHealths),
      cause: z.enum(healthCauses).nullable(),
      hook: z.string().nullable(),
      exitCode: z.number().int().nullable(),
      since: time,
      message: z
        .object({ text: z.string(), lang: z.string().describe('A BCP 47 tag; `und` if unknown.') })
        .nullable()
        .describe('Why the hook failed, in the language of the caller; null if it wrote no message.'),
    })
    .nullable()
    .describe('The worst unit of the VM; null if the VM has no units, or if all of them are healthy.'),
  health: z.enum(vmHealths),
  explanation: explanation
    .nullable()
    .describe(
      'Why the VM has not reached its goal or is degraded; null if neither is true, or if no agent has called yet.',
    ),
  /** The languages of the messages, for `Content-Language`. */
  languages: z.array(z.string()),
});
export type InstanceView = z.infer<typeof instanceView>;
