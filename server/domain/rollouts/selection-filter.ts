import { z } from 'zod';
import { tagFrom, tagText } from '#server/domain/fleet/address.ts';
import { valueSchema } from '#server/domain/fleet/index.ts';
import type { FieldShape, FleetFields, TagFilter } from '#server/domain/fleet-field.ts';
import type { StoredFilter } from '#server/domain/rollout-rules/stored.ts';
import { memoize } from '#server/platform/memoize.ts';

/**
 * Returns the schema of a filter in a rollout. It has the names and types of the VM list's filter; tags are texts such
 * as `env=prod`. An unknown name is rejected, because ignoring a condition would select more VMs.
 */
export const selectionFilter = memoize((fields: FleetFields) =>
  z
    .strictObject(Object.fromEntries(fields.map((field) => [field.name, givenSchema(field).optional()])))
    .transform((filter): StoredFilter => Object.fromEntries(Object.entries(filter).filter(([, value]) => isPart(value)))),
);

/** Whether a value is a condition. An empty text or list is none. */
const isPart = (value: unknown): boolean =>
  value !== undefined && (typeof value === 'number' || (value as string | unknown[]).length > 0);

function givenSchema({ value }: FieldShape): z.ZodType {
  if (value.kind !== 'tags') return valueSchema(value);
  return z
    .array(z.union([z.string().min(1).max(1_600).transform(tagFrom), z.custom<TagFilter>(isTag)]))
    .pipe(valueSchema(value) as unknown as z.ZodType<TagFilter[], TagFilter[]>);
}

const isTag = (tag: unknown): boolean => typeof tag === 'object' && tag !== null && 'name' in tag;

/** Returns a stored filter in the form that creating a rollout accepts. */
export function shownFilter(fields: FleetFields, filter: StoredFilter): Record<string, unknown> {
  const tags = new Set(fields.filter(({ value }) => value.kind === 'tags').map(({ name }) => name));
  return Object.fromEntries(
    Object.entries(filter).map(([name, value]) => [
      name,
      tags.has(name) ? (value as TagFilter[]).map(tagText) : value,
    ]),
  );
}
