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

/** What a VM's time axis shows: from when to when, at most eight days. */
export const timelineInput = z
  .object({ vmId: z.uuid(), from: z.iso.datetime(), to: z.iso.datetime() })
  .refine(({ from, to }) => {
    const length = Date.parse(to) - Date.parse(from);
    return length > 0 && length <= 8 * 86_400_000;
  });
export type TimelineInput = z.input<typeof timelineInput>;
