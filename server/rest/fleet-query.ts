import { z } from 'zod';
import { tagFrom } from '#server/domain/fleet/address.ts';
import { type FleetFilter, valueSchema } from '#server/domain/fleet/index.ts';
import { fleetSort } from '#server/domain/fleet/input.ts';
import type { FieldShape, FleetFields } from '#server/domain/fleet-field.ts';
import { memoize } from '#server/platform/memoize.ts';

/** Returns the schema of the query parameters of VM lists, one per filter field. */
export const fleetQuery = memoize((fields: FleetFields) =>
  z.object(
    Object.fromEntries(
      fields.map((field) => {
        const schema = parameterSchema(field).optional();
        return [field.parameter, field.description === undefined ? schema : schema.describe(field.description)];
      }),
    ),
  ),
);

/** The query parameter for the order of VM lists. */
export const fleetSortQuery = fleetSort.optional();

/** Returns the names of the parameters that may be repeated. */
export const repeatedOf = (fields: FleetFields): string[] =>
  fields.filter(({ value }) => value.kind === 'tags').map(({ parameter }) => parameter);

/** Returns the filter that the query parameters describe. */
export function filterOf(fields: FleetFields, query: Readonly<Record<string, unknown>>): FleetFilter {
  return Object.fromEntries(fields.map(({ name, parameter }) => [name, query[parameter]]));
}

function parameterSchema({ value }: FieldShape): z.ZodType {
  switch (value.kind) {
    case 'text':
    case 'time':
      return valueSchema(value);
    case 'words':
      return z
        .string()
        .max(100)
        .transform((text) => text.split(','))
        .pipe(z.array(z.enum(value.words as [string, ...string[]])))
        .describe(`One or more of ${value.words.join(', ')}, separated by commas.`);
    case 'number':
      return z.coerce.number().int().min(value.min).max(value.max);
    case 'tags':
      return z
        .array(z.string().min(1).max(1_600))
        .max(value.count)
        .transform((tags) => tags.map(tagFrom));
  }
}
