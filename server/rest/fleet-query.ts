import { z } from 'zod';
import { vmHealths } from '#server/domain/verdicts/index.ts';
import { type FleetFilterInput, fleetFilterInput, fleetSorts } from '#server/domain/views/input.ts';

const { q, handler, version, messageId } = fleetFilterInput.shape;

/** How the filter of a list of VMs is written behind `?`; `tag` may be given several times. */
export const fleetQuery = z.object({
  q,
  health: z
    .string()
    .max(100)
    .transform((text) => text.split(','))
    .pipe(z.array(z.enum(vmHealths)))
    .optional()
    .describe(`One or several of ${vmHealths.join(', ')}, with commas between.`),
  tag: z
    .array(z.string().min(1).max(1_600))
    .max(16)
    .optional()
    .describe('`name=value`, or a name alone. In the name, `%` and `=` are written `%25` and `%3D`.'),
  handler,
  version: version.describe('A version that is asked for, or the beginning of one: `2.4.*`.'),
  messageId,
  silentMinutes: z.coerce.number().int().min(1).max(525_600).optional(),
});

/** The order of a list of VMs behind `?`. */
export const fleetSortQuery = z.enum(fleetSorts).optional();

/** The filter as verbs take it. */
export function filterOf({ tag, ...query }: z.output<typeof fleetQuery>): FleetFilterInput {
  return { ...query, ...(tag && { tags: tag.map(tagOf) }) };
}

function tagOf(text: string): { name: string; value?: string } {
  const at = text.indexOf('=');
  const name = (at < 0 ? text : text.slice(0, at)).replaceAll('%3D', '=').replaceAll('%25', '%');
  return at < 0 ? { name } : { name, value: text.slice(at + 1) };
}
