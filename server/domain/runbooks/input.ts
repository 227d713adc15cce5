import { z } from 'zod';
import { executionLimits, timeoutSeconds, validForSeconds } from '#protocol/executions/index.ts';
import { boundedText, givenText } from '#protocol/file.ts';
import { isRunbookVersion } from '#protocol/semver.ts';

const { timeoutSeconds: timeLimits, validForSeconds: validLimits } = executionLimits;

/** An execution plan: a JSON object or its text. */
export const givenPlan = z.union([z.record(z.string(), z.unknown()), z.string()]);

/** The name of a runbook, as in its URL. */
export const runbookName = z
  .string()
  .max(64)
  .regex(/^[a-z0-9]+(?:[-._][a-z0-9]+)*$/, 'runbook_name_form');

export const runbookVersion = z.string().max(64).refine(isRunbookVersion, 'runbook_version_form');

/** The contents of a version. `plan` is a JSON object or its text. */
export const versionContents = z.object({
  title: givenText(100),
  description: boundedText(4_000).default(''),
  plan: givenPlan,
  parameters: z.record(z.string(), z.unknown()).nullish(),
  timeoutSeconds: timeoutSeconds.default(timeLimits.usual),
  validForSeconds: validForSeconds.default(validLimits.usual),
});

export const saveRunbookInput = versionContents.extend({ name: runbookName, version: runbookVersion });
export type SaveRunbookInput = z.input<typeof saveRunbookInput>;

/** Identifies an existing runbook. An invalid name counts as not found (404). */
export const getRunbookInput = z.object({ name: z.string().max(64) });
export type GetRunbookInput = z.input<typeof getRunbookInput>;

/** Identifies an existing version. An invalid name or version counts as not found (404). */
export const runbookVersionInput = getRunbookInput.extend({ version: z.string().max(64) });
export type RunbookVersionInput = z.input<typeof runbookVersionInput>;

export const withdrawRunbookInput = runbookVersionInput.extend({ reason: givenText(1_000) });
export type WithdrawRunbookInput = z.input<typeof withdrawRunbookInput>;

/** `q` is a part of a runbook's name, title or description. */
export const listRunbooksInput = z.object({ q: z.string().max(200).optional() });
export type ListRunbooksInput = z.input<typeof listRunbooksInput>;
