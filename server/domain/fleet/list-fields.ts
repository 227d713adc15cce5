import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import type { Facet, FieldShape } from '#server/domain/fleet-field.ts';

/** A filter field as plain data, for the pages. */
export interface ListedField extends FieldShape {
  /** Label of the search box in the field's menu; null if the field has no menu. */
  find: Facet['find'] | null;
}

/** Lists the filter fields of this portal, in the order in which the pages offer them. */
export async function listFleetFields(ctx: Context): Promise<ListedField[]> {
  allow(ctx.actor, 'viewer');
  return ctx.fleetFields.map(({ name, parameter, label, isSetByPeople, value, orders = [], facet }) => ({
    ...{ name, parameter, label, isSetByPeople, value, orders },
    find: facet?.find ?? null,
  }));
}
