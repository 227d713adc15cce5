import { z } from 'zod';
import type { FieldValue, FleetFields, ValueOf } from '#server/domain/fleet-field.ts';
import { memoize } from '#server/platform/memoize.ts';
import { isInstant } from './address.ts';
import type { FleetFilter } from './fields.ts';

type FilterSchema = z.ZodObject<{
  [N in keyof FleetFilter]-?: z.ZodOptional<z.ZodType<NonNullable<FleetFilter[N]>, NonNullable<FleetFilter[N]>>>;
}>;

/** Returns the schema of a filter, in which every field is optional. */
export const fleetFilterInput = memoize((fields: FleetFields): FilterSchema => {
  const shape = Object.fromEntries(fields.map(({ name, value }) => [name, valueSchema(value).optional()]));
  return z.object(shape) as unknown as FilterSchema;
});

/** Returns the schema of a field's value. */
export function valueSchema(value: FieldValue): z.ZodType<ValueOf<FieldValue>, ValueOf<FieldValue>> {
  switch (value.kind) {
    case 'text': {
      const text = z
        .string()
        .min(value.min ?? 0)
        .max(value.max);
      return value.form === undefined ? text : text.regex(new RegExp(value.form), value.fault);
    }
    case 'words':
      return z.array(z.enum(value.words as [string, ...string[]])).max(value.words.length);
    case 'number':
      return z.number().int().min(value.min).max(value.max);
    case 'time':
      return z.string().max(27).refine(isInstant, 'field_format').meta({ format: 'date-time' });
    case 'tags':
      return z
        .array(z.object({ name: z.string().min(1).max(value.max), value: z.string().max(value.max).optional() }))
        .max(value.count);
  }
}
