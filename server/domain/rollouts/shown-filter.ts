import { tagText } from '#server/domain/fleet/address.ts';
import type { FleetFields, TagFilter } from '#server/domain/fleet-field.ts';
import type { StoredFilter } from '#server/domain/rollout-rules/stored.ts';

/** Returns a stored filter in the form that creating a rollout accepts: tags are texts such as `env=prod`. */
export function shownFilter(fields: FleetFields, filter: StoredFilter): Record<string, unknown> {
  const tags = new Set(fields.filter(({ value }) => value.kind === 'tags').map(({ name }) => name));
  return Object.fromEntries(
    Object.entries(filter).map(([name, value]) => [name, tags.has(name) ? (value as TagFilter[]).map(tagText) : value]),
  );
}
