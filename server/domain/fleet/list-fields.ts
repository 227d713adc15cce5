import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import type { Facet, FieldShape } from '#server/domain/fleet-field.ts';

/** A filter field as pages need it: plain data. */
export interface ListedField extends FieldShape {
  /** Label of the search in its menu of values; null without a menu. */
  find: Facet['find'] | null;
}

/** Lists the filter fields of this portal, in the order in which pages offer them. */
export async function listFleetFields(ctx: Context): Promise<ListedField[]> {
  allow(ctx.actor, 'viewer');
  return ctx.fleetFields.map(({ name, parameter, label, isSetByPeople, value, orders = [], facet }) => ({
    ...{ name, parameter, label, isSetByPeople, value, orders },
    find: facet?.find ?? null,
  }));
}
