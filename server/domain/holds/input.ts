import { z } from 'zod';
import { givenText } from '#protocol/file.ts';
import { vmId } from '#server/domain/vms/input.ts';

/** Limits on a hold: characters of its reason and days until its end. Forms use these limits too. */
export const holdLimits = { reason: 500, days: 365 };

/** A single line, because the reason is shown inside sentences. */
const reason = givenText(holdLimits.reason).refine((text) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text), 'text_control');

const ifMatch = z.number().int().min(0).optional();

/** A hold as a caller describes it. Without `until`, it lasts until a person releases it. */
export const holdTerms = z.object({ reason, until: z.iso.datetime({ offset: true }).nullish() });

/** `ifMatch`: the incarnation that the operator saw. The request is rejected if the current incarnation differs. */
export const holdVmInput = holdTerms.extend({ vmId, ifMatch });
export type HoldVmInput = z.input<typeof holdVmInput>;

export const releaseHoldInput = z.object({ vmId, ifMatch });
export type ReleaseHoldInput = z.input<typeof releaseHoldInput>;
