import { z } from 'zod';
import { changesDirection } from '#protocol/direction.ts';
import { givenText } from '#protocol/file.ts';
import { changeInput } from './change-input.ts';
import {
  compareInput,
  errorsInput,
  inFlightInput,
  percentShare,
  successInput,
  upToInput,
  windowsInput,
} from './limit-input.ts';
import { unusedByRuns } from './run-input.ts';
import { conditionsInput, type FilterSchema, selectionInput } from './select-input.ts';
import { retryCauses } from './strategies.ts';
import { silentRules } from './words.ts';

const day = 86_400;
const seconds = (max: number) => z.number().int().min(0).max(max);
const instant = z.iso.datetime({ offset: true }).transform((text) => new Date(text).toISOString());

/** Text that PostgreSQL can store. */
const text = (max: number) =>
  z
    .string()
    .max(max)
    .refine((given) => !given.includes('\0') && given.isWellFormed(), 'json_character');

/** Limits and gates. A gate that is null is off; fields that are left out come from the strategy. */
const gatesInput = z.strictObject({
  inFlight: inFlightInput.optional(),
  ramp: z.boolean().optional(),
  soakSeconds: seconds(7 * day).optional(),
  settleSeconds: seconds(day).optional(),
  bakeSeconds: seconds(30 * day).optional(),
  errors: errorsInput.nullish(),
  success: successInput.nullish(),
  compare: compareInput.nullish(),
});
export type GatesInput = z.output<typeof gatesInput>;

const noProgressSeconds = z
  .number()
  .int()
  .min(60)
  .max(30 * day);

const ringInput = (filter: FilterSchema) =>
  z.strictObject({
    name: givenText(40),
    filter: conditionsInput(filter).nullish(),
    upTo: upToInput.nullish(),
    approval: z.boolean().default(false),
    windows: windowsInput.default([]),
    gates: gatesInput.optional(),
  });
export type RingInput = z.output<ReturnType<typeof ringInput>>;

const retryInput = z.strictObject({
  times: z.number().int().min(0).max(3),
  afterSeconds: z.number().int().min(1).max(day).default(300),
  causes: z
    .array(z.enum(retryCauses))
    .min(1)
    .max(retryCauses.length)
    .default([...retryCauses]),
});

/** What a strategy decides, and a definition may decide differently. */
const choices = (filter: FilterSchema) => ({
  rings: z.array(ringInput(filter)).min(1).max(20).nullish(),
  gates: gatesInput.extend({ noProgressSeconds: noProgressSeconds.optional() }).optional(),
  silent: z.enum(silentRules).optional(),
  newcomers: z.enum(['ignore', 'include']).optional(),
  onStepFailure: z.enum(['leave', 'revert']).optional(),
  onHalt: z.enum(['pause', 'revert']).optional(),
  retry: retryInput.optional(),
});

/** The definition of a rollout, as `POST /rollouts` accepts it. `filter` is the schema of the VM list's filter. */
export const rolloutInput = (filter: FilterSchema) =>
  z
    .strictObject({
      kind: z.enum(['rollout', 'bulk']).default('rollout'),
      name: givenText(200),
      note: text(4_000)
        .refine((given) => !changesDirection(given), 'text_direction')
        .nullish(),
      strategy: z.string().min(1).max(100).optional(),
      select: selectionInput(filter),
      change: changeInput,
      ...choices(filter),
      windows: windowsInput.default([]),
      keepDays: z.number().int().min(0).max(365).optional(),
      availabilitySets: z.enum(['respect', 'ignore']).optional(),
      maxMovedPercent: percentShare.nullish(),
      stepsPerSecond: z.number().int().min(1).max(5_000).nullish(),
      startAt: instant.nullish(),
    })
    .superRefine(({ kind, rings, change, ...choices }, ctx) => {
      if (kind === 'bulk' && rings != null)
        ctx.addIssue({ code: 'custom', path: ['rings'], message: 'bulk_one_ring', input: rings });
      if (change.kind !== 'run') return;
      for (const path of unusedByRuns({ rings, ...choices })) {
        ctx.addIssue({ code: 'custom', path, message: 'change_field_unused', params: { kind: 'run' }, input: rings });
      }
    });
export type RolloutInput = z.output<ReturnType<typeof rolloutInput>>;

export const strategyName = text(100)
  .min(1)
  .regex(/^[\p{L}\p{N}](?:[\p{L}\p{N} ._-]*[\p{L}\p{N}])?$/u, 'strategy_name_form');

/** A saved strategy. What is left out comes from `careful`. */
export const strategyInput = (filter: FilterSchema) =>
  z.strictObject({
    ...choices(filter),
    automaticFor: z
      .union([z.literal('*'), z.array(z.string().max(200)).max(1_000)])
      .transform((given) => (given === '*' ? ['*'] : [...new Set(given)]))
      .default([]),
  });
export type StrategyInput = z.output<ReturnType<typeof strategyInput>>;

const freeze = z
  .strictObject({
    from: instant,
    to: instant,
    reason: givenText(1_000),
    exempt: z.array(z.uuid().toLowerCase()).max(1_000).default([]),
  })
  .refine(({ from, to }) => from < to, { path: ['to'], error: 'window_empty' });

/** The rules of all rollouts of the portal. */
export const rolloutRulesInput = z.strictObject({
  stepsPerSecond: z.number().int().min(1).max(5_000),
  inFlight: z.number().int().min(1).max(20_000),
  approval: z
    .strictObject({
      fromMembers: z.number().int().min(1).max(1_000_000),
      people: z.number().int().min(1).max(3),
      role: z.enum(['operator', 'admin']),
      automatic: z.boolean().optional().describe('Whether automatic upgrades need approvals too.'),
    })
    .nullable(),
  freezes: z.array(freeze).max(100),
  availabilitySetTag: text(256).min(1),
});
