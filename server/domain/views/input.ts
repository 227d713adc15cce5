import { z } from 'zod';

/** `acceptLanguage` is the request's header as it came, `chosenLanguage` what the reader picked in the pages. */
export const instanceViewInput = z.object({
  vmId: z.uuid(),
  acceptLanguage: z.string().nullish(),
  chosenLanguage: z.string().nullish(),
});
export type InstanceViewInput = z.input<typeof instanceViewInput>;

/** A few letters of what a person looks for. */
export const findThingsInput = z.strictObject({ q: z.string().trim().min(1).max(200) });
export type FindThingsInput = z.input<typeof findThingsInput>;
