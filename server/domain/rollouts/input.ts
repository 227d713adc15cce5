import { z } from 'zod';
import { givenText } from '#protocol/file.ts';
import { extensionName } from '#server/domain/goal-states/input.ts';
import { handlerId } from '#server/domain/packages/input.ts';
import { strategyName } from '#server/domain/rollout-rules/input.ts';
import {
  gateNames,
  memberCounts,
  memberKinds,
  rolloutKinds,
  rolloutStates,
  stepStates,
} from '#server/domain/rollout-rules/words.ts';
import { vmId } from '#server/domain/vms/input.ts';

export const rolloutId = z.uuid().toLowerCase();
const reason = givenText(500);
const ring = z.int().min(0).max(19);
const planHash = z.string().min(1).max(100);
const page = { limit: z.int().min(1).max(200).default(50), cursor: z.string().max(500).optional() };

/** Seconds for which an answer is held until the rollout has another state. */
export const waitSeconds = z.number().min(0).max(30).default(0);

export const inRollout = z.object({ id: rolloutId });
export type InRollout = z.input<typeof inRollout>;

export const waitInRollout = inRollout.extend({ wait: waitSeconds });
export type WaitInRollout = z.input<typeof waitInRollout>;

/** `definition` is what creating a rollout accepts. `revision` is the rollout's revision when the edit began. */
export const updateRolloutInput = inRollout.extend({ revision: z.int().min(0).optional(), definition: z.unknown() });
export type UpdateRolloutInput = z.input<typeof updateRolloutInput>;

/** `plan` is the hash of the plan that the caller has seen. */
export const decideTerms = z.object({ plan: planHash, ring: ring.optional(), note: givenText(500).optional() });
export const approveRolloutInput = inRollout.extend(decideTerms.shape);
export type ApproveRolloutInput = z.input<typeof approveRolloutInput>;

export const rejectTerms = decideTerms.omit({ note: true }).extend({ reason });
export const rejectRolloutInput = inRollout.extend(rejectTerms.shape);
export type RejectRolloutInput = z.input<typeof rejectRolloutInput>;

export const startTerms = z.object({
  plan: planHash.optional(),
  acceptOverlap: z.array(rolloutId).max(1_000).optional(),
});
export const startRolloutInput = inRollout.extend({ ...startTerms.shape, wait: waitSeconds });
export type StartRolloutInput = z.input<typeof startRolloutInput>;

export const reasonTerms = z.object({ reason: reason.optional() });
export const stopRolloutInput = inRollout.extend(reasonTerms.shape);
export type StopRolloutInput = z.input<typeof stopRolloutInput>;

/** `overrule` names every verdict that halted the rollout. */
export const resumeTerms = reasonTerms.extend({
  overrule: z
    .array(z.object({ ring, gate: z.enum(gateNames) }).strict())
    .max(60)
    .optional(),
});
export const resumeRolloutInput = inRollout.extend(resumeTerms.shape);
export type ResumeRolloutInput = z.input<typeof resumeRolloutInput>;

export const advanceTerms = z.object({ ring, reason });
export const advanceRolloutInput = inRollout.extend(advanceTerms.shape);
export type AdvanceRolloutInput = z.input<typeof advanceRolloutInput>;

export const revertTerms = z.object({
  ring: ring.optional(),
  only: z.enum(['failed']).optional(),
  start: z.boolean().default(false),
});
export const revertRolloutInput = inRollout.extend(revertTerms.shape);
export type RevertRolloutInput = z.input<typeof revertRolloutInput>;

export const retryTerms = z.object({ of: z.enum(['failed', 'unreached', 'skipped']) });
export const retryRolloutInput = inRollout.extend(retryTerms.shape);
export type RetryRolloutInput = z.input<typeof retryRolloutInput>;

/** `open`: rollouts that have not ended come first. */
export const rolloutFilter = z.object({
  state: z.array(z.enum(rolloutStates)).max(rolloutStates.length).optional(),
  kind: z.array(z.enum(rolloutKinds)).max(rolloutKinds.length).optional(),
  handler: handlerId.optional(),
  of: rolloutId.optional(),
  q: z.string().max(200).optional(),
  sort: z.enum(['newest', 'open']).default('newest'),
});
/** `needing`: only rollouts that do not continue without a person. */
export const listRolloutsInput = rolloutFilter.extend({ needing: z.boolean().optional(), ...page });
export type ListRolloutsInput = z.input<typeof listRolloutsInput>;

/** The key of a group of steps that failed, or are parked, for the same reason. */
export const groupKey = z.string().regex(/^[0-9a-f]{32}$/);

export const listStepsInput = inRollout.extend({
  ring: ring.optional(),
  state: z.array(z.enum(stepStates)).max(stepStates.length).optional(),
  cause: z.string().max(200).optional(),
  group: groupKey.optional(),
  ...page,
});
export type ListStepsInput = z.input<typeof listStepsInput>;

export const listPlanVmsInput = inRollout.extend({
  ring: ring.optional(),
  kind: z.enum(memberKinds).optional(),
  ...page,
});
export type ListPlanVmsInput = z.input<typeof listPlanVmsInput>;

/** `of`: whether failed or parked members are grouped. */
export const causesInput = inRollout.extend({ of: z.enum(['failed', 'parked']).default('failed') });

export const ringOfRollout = inRollout.extend({ ring: ring.optional() });
export type RingOfRollout = z.input<typeof ringOfRollout>;

/** `cells` is the maximum number of cells; several members share one if there are more. */
export const listCellsInput = inRollout.extend({ cells: z.int().min(20).max(4_000).default(2_000) });
export type ListCellsInput = z.input<typeof listCellsInput>;

export const ringOpeningsInput = z.object({ handler: handlerId, from: z.iso.datetime() });
export type RingOpeningsInput = z.input<typeof ringOpeningsInput>;

export const rolloutsOfVmInput = z.object({ vmId });
export type RolloutsOfVmInput = z.input<typeof rolloutsOfVmInput>;

export const whyThisVersionInput = z.object({ vmId, name: extensionName });
export type WhyThisVersionInput = z.input<typeof whyThisVersionInput>;

export const automaticOfHandlerInput = z.object({ handler: handlerId });
export type AutomaticOfHandlerInput = z.input<typeof automaticOfHandlerInput>;

/** Values of the filter field `step`: a state of a step as the counts show it. */
export const stepFilter = memberCounts;

export const strategyByName = z.object({ name: strategyName });
export type StrategyByName = z.input<typeof strategyByName>;
