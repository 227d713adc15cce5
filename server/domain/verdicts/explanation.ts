import { z } from 'zod';
import type { GoalStateExtension, HandlerReport, StatusWord } from '#protocol/index.ts';
import type { AgentStatus, ExtensionHealth, HealthCause, HeartbeatVerdict } from './words.ts';

/** Codes of the sentences in explanations. Each has a text in `locales/<language>/reports.json` under `why.<code>`. */
export const sentenceCodes = [
  'begun',
  'begun.detail',
  'deadline.left',
  'deadline.past',
  'deadline.then',
  'deadline.was',
  'delivery.at',
  'delivery.done',
  'delivery.none',
  'delivery.older',
  'delivery.open',
  'delivery.withheld',
  'error',
  'error.detail',
  'failed',
  'failed.again',
  'failed.exit',
  'failed.exit.unnamed',
  'failed.plain',
  'failed.time',
  'failed.time.unnamed',
  'heartbeat.detail',
  'hold',
  'hold.detail',
  'hold.reason',
  'hold.reason.until',
  'hold.until',
  'late',
  'late.begun',
  'late.leaving',
  'late.notBegun',
  'late.quiet',
  'late.runs',
  'late.waits',
  'late.warns',
  'late.works',
  'lead.begun',
  'lead.blocked',
  'lead.blocked.exit',
  'lead.blocked.failed',
  'lead.blocked.time',
  'lead.error',
  'lead.failed',
  'lead.failed.exit',
  'lead.failed.exit.unnamed',
  'lead.failed.time',
  'lead.failed.time.unnamed',
  'lead.held',
  'lead.hold',
  'lead.late.begun',
  'lead.late.leaving',
  'lead.late.notBegun',
  'lead.late.quiet',
  'lead.late.runs',
  'lead.late.waits',
  'lead.late.warns',
  'lead.late.works',
  'lead.leaving',
  'lead.noHeartbeat',
  'lead.notBegun',
  'lead.notReady',
  'lead.part',
  'lead.part.unnamed',
  'lead.quiet',
  'lead.refused',
  'lead.release',
  'lead.runs',
  'lead.secrets',
  'lead.silent',
  'lead.turn',
  'lead.turn.restarts',
  'lead.turn.unnamed',
  'lead.undelivered',
  'lead.unit.command',
  'lead.unit.deadline',
  'lead.unit.late',
  'lead.unit.relation',
  'lead.unit.release',
  'lead.unit.retry',
  'lead.unit.runs',
  'lead.unit.skipped',
  'lead.unit.waiting',
  'lead.unresponsive',
  'lead.waits',
  'lead.warns',
  'lead.warnsSince',
  'lead.works',
  'leaving',
  'leaving.command',
  'leaving.detail',
  'noHeartbeat',
  'notBegun',
  'notBegun.detail',
  'notReady',
  'part',
  'part.unnamed',
  'quiet',
  'quiet.detail',
  'refused',
  'refused.detail',
  'release',
  'release.detail',
  'runs',
  'runs.detail',
  'secrets',
  'secrets.detail',
  'touch.last',
  'touch.late',
  'touch.ready',
  'touch.silent',
  'turn',
  'turn.detail',
  'turn.restarts',
  'turn.unnamed',
  'unit.again',
  'unit.attempts',
  'unit.attempts.remote',
  'unit.command',
  'unit.deadline',
  'unit.exit',
  'unit.late',
  'unit.relation',
  'unit.release',
  'unit.resolve',
  'unit.retry',
  'unit.runs',
  'unit.seen',
  'unit.seen.at',
  'unit.since',
  'unit.skipped',
  'unit.timeout',
  'unit.unseen',
  'unit.waiting',
  'unresponsive',
  'wait',
  'wait.again',
  'wait.detail',
  'wait.other',
  'warns',
  'warns.detail',
  'works',
  'works.detail',
] as const;
export type SentenceCode = (typeof sentenceCodes)[number];

const sentence = z
  .object({
    code: z.enum(sentenceCodes),
    values: z.record(z.string(), z.union([z.string(), z.number()])),
    at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'Sentence', description: 'A sentence as a code, with the values and the time that it contains.' });
export type Sentence = z.infer<typeof sentence>;

const link = z.object({
  kind: z.enum(['touch', 'delivery', 'wait', 'cause', 'turn', 'hold', 'deadline']),
  status: z.enum(['failed', 'unresponsive', 'warning', 'waiting', 'progressing', 'unknown', 'healthy']),
  holds: z.boolean().describe('Whether this link of the chain works.'),
  extension: z
    .string()
    .nullable()
    .describe('The extension or the unit that this link is about; null if it is about the VM.'),
  queueEntry: z
    .string()
    .nullable()
    .describe(
      'The extension that waits at this link; null if no extension waits. Its entry in `GET /vms/{id}/queue` shows ' +
        'whether it waits for its turn, for another extension or for the end of a hold.',
    ),
  execution: z.uuid().nullable().describe('With `turn`, the execution that must end first; otherwise null.'),
  title: sentence,
  detail: sentence.nullable(),
});
export type Link = z.infer<typeof link>;

/** Why a VM is not done or is degraded, as one sentence and a chain of links. Part of the API. */
export const explanation = z
  .object({
    question: z.enum(['notDone', 'degraded']),
    extension: z.string().describe('The extension, or the unit, with the worst health.'),
    lead: sentence,
    links: z.array(link).max(5).describe('The chain of links, in order from the agent’s last call to the deadline.'),
    act: z
      .object({ extension: z.string(), editable: z.boolean(), hasOutput: z.boolean(), failed: z.boolean() })
      .nullable()
      .describe('The extension that a person can correct; null if only the agent can resolve the problem.'),
  })
  .meta({ id: 'Explanation' });
export type Explanation = z.infer<typeof explanation>;

/** The facts about an extension that an explanation needs, as in the instance view. Times are ISO 8601. */
export interface ExplainedExtension {
  name: string;
  goal: GoalStateExtension['state'];
  goalSequenceNumber: number;
  deliveredAt: string | null;
  deadlineAt: string | null;
  concludedWith: 'success' | 'error' | null;
  needsSecrets: boolean;
  needsRelease: boolean;
  handlerState: {
    state: HandlerReport['state'];
    command: HandlerReport['command'] | null;
    sequenceNumber: number;
    exitCode: number | null;
    timedOut: boolean;
    attempt: number | null;
    outputTail?: string | null;
    blockedBy: string | null;
    at: string | null;
  } | null;
  heartbeat: { verdict: HeartbeatVerdict; readAt: string | null };
  status: { status: StatusWord; sequenceNumber: number; code: number | null; readAt: string | null } | null;
  refusedStatus: { readAt: string; faults: readonly { path: string }[] } | null;
  health: ExtensionHealth;
  cause: HealthCause | null;
  failedPart: { name: string | null; operation: string | null; code: number | null } | null;
}

/** The facts about a VM that an explanation needs. */
export interface ExplainedVm {
  incarnation: number;
  deliveredIncarnation: number;
  agent: {
    status: AgentStatus;
    /** During a hold, a stock agent processes nothing; a reference agent finishes the goal state that it has. */
    kind: 'reference' | 'stock' | null;
    lastSeenAt: string | null;
    hold: { at: string; by: string; reason: string | null; until: string | null } | null;
  };
  /** The execution that holds the machine's lane, so that no command runs; null if there is none. */
  lane: { executionId: string; name: string; since: string; isRestarting: boolean } | null;
  extensions: readonly ExplainedExtension[];
}
