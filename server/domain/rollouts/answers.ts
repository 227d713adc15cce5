import { z } from 'zod';
import { count, time } from '#server/domain/answers.ts';
import {
  changeKinds,
  gateNames,
  gateVerdicts,
  memberCounts,
  memberKinds,
  pairResults,
  pausers,
  ringStates,
  rolloutKinds,
  rolloutStates,
  stepStates,
} from '#server/domain/rollout-rules/words.ts';
import { vmId } from '#server/domain/vms/input.ts';

const kinds = z.partialRecord(z.enum(memberKinds), count);
const numbers = z.record(z.string(), z.union([z.string(), z.number()]));

/** A reason that has a sentence in `locales`. */
export const reason = z.object({
  code: z.string(),
  /** Index of the ring, from 0. */
  ring: count.optional(),
  params: numbers.optional(),
  since: time.optional(),
  at: time.optional(),
});

/** Members by state; they add up to `members`. */
export const rolloutCounts = z.object({
  members: count,
  ...(Object.fromEntries(memberCounts.map((name) => [name, count])) as Record<
    (typeof memberCounts)[number],
    typeof count
  >),
});
export type RolloutCounts = z.infer<typeof rolloutCounts>;

export const approvalView = z.object({
  ring: count.nullable(),
  approved: z.boolean(),
  by: z.string(),
  at: time,
  planHash: z.string(),
  note: z.string().nullable(),
});

export const verdictView = z.object({
  gate: z.enum(gateNames),
  verdict: z.enum(gateVerdicts),
  code: z.string(),
  params: numbers,
});

export const ringPlanView = z.object({
  name: z.string(),
  size: count,
  kinds,
  inFlight: count,
  bytes: count,
  restarts: count,
  silent: count,
  sets: z.object({ touched: count, longest: count }),
});

export const planView = z.object({
  hash: z.string(),
  at: time,
  by: z.string(),
  matched: count,
  members: count,
  unchanged: count,
  kinds,
  refused: z.record(z.string(), z.object({ count, examples: z.array(z.object({ vmId, name: z.string() })) })),
  rings: z.array(ringPlanView),
  notRevertible: z.record(z.string(), count),
  overlaps: z.array(z.object({ id: z.string(), name: z.string(), members: count })),
  uncheckedSettings: count,
  earliestEnd: time.nullable(),
  likelyEnd: time.nullable(),
});
export type PlanView = z.infer<typeof planView>;

export const ringView = z.object({
  name: z.string(),
  state: z.enum(ringStates),
  first: count,
  size: count,
  counts: rolloutCounts,
  verdicts: z.array(verdictView),
  /** Whether the ring waits for a person's approval before it opens. */
  approval: z.boolean(),
  approvedBy: z.string().nullable(),
  openedAt: time.nullable(),
  /** When the gates were met; the next ring opens `bakeSeconds` later. */
  metAt: time.nullable(),
  passedAt: time.nullable(),
  bakeSeconds: count,
});
export type RingView = z.infer<typeof ringView>;

/** A rollout in lists. */
export const rolloutRow = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.enum(rolloutKinds),
  state: z.enum(rolloutStates),
  pausedBy: z.enum(pausers).nullable(),
  handler: z.string().nullable(),
  /** The change in its main parts, without settings. */
  change: z.object({
    kind: z.enum(changeKinds),
    handler: z.string().nullable(),
    /** The runbook that a change of kind `run` runs. */
    runbook: z.string().nullable(),
    extension: z.string().nullable(),
    version: z.string().nullable(),
    state: z.enum(['enabled', 'disabled']).nullable(),
    settings: z.boolean(),
  }),
  why: z.array(reason),
  next: reason.nullable(),
  counts: rolloutCounts,
  rings: z.array(z.object({ name: z.string(), state: z.enum(ringStates), size: count, counts: rolloutCounts })),
  /** Whether the rollout does not continue without a person: it halted, its plan is out of date or failed, or it awaits approval. */
  needsPerson: z.boolean(),
  of: z.string().nullable(),
  createdBy: z.string(),
  createdAt: time,
  startedAt: time.nullable(),
  endedAt: time.nullable(),
});
export type RolloutRow = z.infer<typeof rolloutRow>;

/** One rollout. Viewers get the definition without settings; protected settings are never returned. */
export const rolloutView = rolloutRow.extend({
  revision: count,
  note: z.string().nullable(),
  /** The definition as `POST /rollouts` accepts it. */
  definition: z.record(z.string(), z.unknown()),
  /** Whether the change has protected settings, which no answer contains. */
  hasProtectedSettings: z.boolean(),
  /** The names of a run's secret parameters, whose values no answer contains. */
  secretParameters: z.array(z.string()),
  forecast: z.object({ from: time, to: time }).nullable(),
  rings: z.array(ringView),
  plan: z.object({ hash: z.string(), at: time, by: z.string() }).nullable(),
  approvals: z.array(approvalView),
  /** Approvals that the start still needs; 0 if none. */
  approvalsNeeded: count,
  /** Whether the caller may approve or reject. */
  mayApprove: z.boolean(),
  revertedBy: z.string().nullable(),
  supersededBy: z.string().nullable(),
  startedBy: z.string().nullable(),
  startAt: time.nullable(),
});
export type RolloutView = z.infer<typeof rolloutView>;

const stepSide = z.object({
  incarnation: count.nullable(),
  extensions: z.array(z.object({ name: z.string(), version: z.string().nullable(), sequenceNumber: count.nullable() })),
});

/** One member of a rollout with its step. */
export const stepView = z.object({
  vmId,
  name: z.string(),
  ring: count,
  place: count,
  kind: z.enum(memberKinds),
  state: z.enum(stepStates),
  cause: z.string().nullable(),
  /** The command, exit code and message of a step that failed, as far as they are known. */
  failure: z
    .object({ command: z.string().nullable(), exitCode: z.int().nullable(), messageId: z.string().nullable() })
    .nullable(),
  /** For a skipped step with the cause `moved`: what the change would have done instead of `kind`. */
  movedTo: z.enum(memberKinds).nullable(),
  attempt: count,
  /** The execution of the latest attempt, for a change of kind `run`. */
  executionId: z.uuid().nullable(),
  before: stepSide,
  after: stepSide,
  publishedAt: time.nullable(),
  healthyAt: time.nullable(),
  decidedAt: time.nullable(),
  dueAt: time.nullable(),
  overtakenBy: z.object({ by: z.string(), action: z.string(), at: time }).nullable(),
  pair: z.object({ vmId, name: z.string(), result: z.enum(pairResults).nullable() }).nullable(),
});
export type StepView = z.infer<typeof stepView>;

export const planVm = z.object({
  vmId,
  name: z.string(),
  ring: count,
  place: count,
  kind: z.enum(memberKinds),
});
export type PlanVm = z.infer<typeof planVm>;

export const curvePoint = z.object({
  at: time,
  decided: count,
  failed: count,
  pairs: count,
  changedFirst: count,
  controlFirst: count,
  both: count.describe('Pairs of which both VMs failed.'),
  low: z
    .number()
    .describe(
      'Low end of the confidence band of the share of pairs in which the changed VM failed first, among those of which one did.',
    ),
  high: z.number().describe('High end of that band.'),
  difference: z.int().describe('What the comparison tests: how many more times the changed VM failed first.'),
  haltsAt: count.describe('The difference at which the comparison halts the rollout.'),
});
export type CurvePoint = z.infer<typeof curvePoint>;

/** Members in the order of the rollout, up to `perCell` of them in a cell. */
export const cellsView = z.object({
  perCell: count,
  cells: z.array(
    z.object({
      ring: count,
      /** Place of the cell's first member in its ring, and the number of its members. */
      place: count,
      size: count,
      /** Members by state; they add up to `size`. */
      counts: z.partialRecord(z.enum(memberCounts), count),
      /** The VM and the cause of its state, if the cell is one member that the rollout reached. */
      vm: z.object({ vmId, name: z.string(), cause: z.string().nullable() }).nullable(),
    }),
  ),
});
export type CellsView = z.infer<typeof cellsView>;

/** What a parked step waits for. */
export const blockerView = z.object({ kind: z.enum(['vm', 'rollout']), id: z.string(), name: z.string() });
export type BlockerView = z.infer<typeof blockerView>;

/** A rollout of which a VM is or was a member, with the VM's place and state in it. */
export const membershipView = z.object({
  rollout: z.object({
    id: z.string(),
    name: z.string(),
    kind: z.enum(rolloutKinds),
    state: z.enum(rolloutStates),
    handler: z.string().nullable(),
    extension: z.string().nullable(),
    /** The runbook that the rollout runs; null if it changes extensions. */
    runbook: z.string().nullable(),
    createdAt: time,
  }),
  ring: z.object({ index: count, name: z.string(), size: count }),
  place: count,
  /** The state of the VM's step; `queued` if its turn has not come. */
  state: z.enum(['queued', ...stepStates]),
  cause: z.string().nullable(),
  /** For a parked step: the VM of the same availability set, or the other rollout, that it waits for, if known. */
  waitsFor: blockerView.nullable(),
  incarnation: count.nullable(),
  publishedAt: time.nullable(),
  decidedAt: time.nullable(),
});
export type MembershipView = z.infer<typeof membershipView>;
