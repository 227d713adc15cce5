import { sql } from 'drizzle-orm';
import type { FieldValue, FleetField } from '#server/domain/fleet-field.ts';
import { type FleetEventKind, fleetEventKinds, vmsWithEvent } from '#server/domain/health/index.ts';

const form = String.raw`^(${fleetEventKinds.join('|')}):[1-9]\d{3}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\dZ$`;
const value = { kind: 'text', min: 1, max: 40, form, fault: 'event_filter_form' } as const satisfies FieldValue;

/**
 * VMs that had an event of this kind in this minute, such as `silent:2026-03-04T12:05Z`. The activity feed links to
 * lists with this filter.
 */
export const event = {
  name: 'event',
  parameter: 'event',
  label: 'filter.event',
  description: `VMs that had an event in a certain minute, for example \`silent:2026-03-04T12:05Z\`. Possible events: ${fleetEventKinds.join(', ')}.`,
  isSetByPeople: false,
  value,
  of: 'health',
  where(text, { id }) {
    const colon = text.indexOf(':');
    const from = new Date(text.slice(colon + 1));
    const condition = Number.isNaN(from.getTime())
      ? sql`false`
      : sql`${id} in (${vmsWithEvent(text.slice(0, colon) as FleetEventKind, from)})`;
    return [{ set: condition, row: condition }];
  },
} as const satisfies FleetField<'event', typeof value>;
