import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type FleetMapInput, fleetMapInput } from '../input.ts';
import type { FleetMap } from './fleet-map.ts';
import { readFleetMap } from './read-fleet-map.ts';

/** One letter per VM, by name within its group: 100,000 VMs are some 30 KB. */
export async function getFleetMap(ctx: Context, input: FleetMapInput): Promise<FleetMap> {
  allow(ctx.actor, 'viewer');
  const { groupBy } = parse(fleetMapInput, input);
  return readFleetMap(ctx.db, groupBy);
}
