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
/** How the fleet map puts VMs together: by a tag, by handler, or not at all. */
export const groupBy = z.union([
  z.literal('none'),
  z.literal('handler'),
  z.templateLiteral(['tag:', z.string().min(1).max(256)]),
]);

export const fleetMapInput = z.object({ groupBy });
export type FleetMapInput = z.input<typeof fleetMapInput>;

/** A place in a map that was given out: `group` and `index` count from 0, `revision` is the map's. */
export const mapCellInput = z.object({
  groupBy,
  revision: z.string().max(64),
  group: z.int().min(0),
  index: z.int().min(0),
});
export type MapCellInput = z.input<typeof mapCellInput>;

export const listFailingInput = instanceViewInput.omit({ vmId: true });
export type ListFailingInput = z.input<typeof listFailingInput>;
