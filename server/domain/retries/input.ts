import { z } from 'zod';
import { extensionName } from '#server/domain/goal-states/input.ts';
import { vmId } from '#server/domain/vms/input.ts';

/** Limits on repeated retries. Forms use these limits too. */
export const retryLimits = { minutes: 1_440, times: 100 };

const ofExtension = z.object({ vmId, name: extensionName });

/**
 * `sequenceNumber`: the number that the caller saw; the retry is rejected if the extension has another number now. With
 * `everyMinutes`, the portal repeats the retry up to `times` times.
 */
export const retryExtensionInput = ofExtension.extend({
  sequenceNumber: z.number().int().min(0).optional(),
  everyMinutes: z.number().int().min(1).max(retryLimits.minutes).optional(),
  times: z.number().int().min(1).max(retryLimits.times).default(5),
  ifMatch: z.number().int().min(0).optional(),
});
export type RetryExtensionInput = z.input<typeof retryExtensionInput>;

export const cancelRetriesInput = ofExtension;
export type CancelRetriesInput = z.input<typeof cancelRetriesInput>;
