import { z } from 'zod';
import { givenText } from '#protocol/file.ts';
import { vmId } from '#server/domain/vms/input.ts';

/** Limits of a hold; forms use them too. */
export const holdLimits = { reason: 500, days: 365 };

/** One line: the reason is part of sentences. */
const reason = givenText(holdLimits.reason).refine((text) => !/\p{Cc}/u.test(text), 'text_control');

const ifMatch = z.number().int().min(0).optional();

/** A hold as people give it. Without `until` it lasts until a person releases it. */
export const holdTerms = z.object({ reason, until: z.iso.datetime({ offset: true }).nullish() });

/** `ifMatch`: the incarnation that the operator saw. Rejected if a newer one is in force. */
export const holdVmInput = holdTerms.extend({ vmId, ifMatch });
export type HoldVmInput = z.input<typeof holdVmInput>;

export const releaseHoldInput = z.object({ vmId, ifMatch });
export type ReleaseHoldInput = z.input<typeof releaseHoldInput>;
