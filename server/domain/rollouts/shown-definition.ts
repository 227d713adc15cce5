import type { Context } from '#server/domain/context.ts';
import type {
  Gates,
  Limit,
  RingDefinition,
  RolloutChange,
  RunChange,
  Selection,
} from '#server/domain/rollout-rules/stored.ts';
import type { StoredRollout } from './rows.ts';
import { shownFilter } from './shown-filter.ts';

/**
 * Returns a rollout's definition in the form that creating a rollout accepts, with every default filled in. It never
 * contains protected settings; viewers get it without public settings too.
 */
export function shownDefinition(
  ctx: Pick<Context, 'fleetFields'>,
  { name, note, kind, definition }: Pick<StoredRollout, 'name' | 'note' | 'kind' | 'definition'>,
  { withSettings }: { withSettings: boolean },
): Record<string, unknown> {
  const { select, change, rings, maxMovedShare, noProgressSeconds, ...rest } = definition;
  const [first] = rings;
  return {
    ...{ name, note, kind },
    ...rest,
    select: shownSelection(ctx, select),
    change: shownChange(change, withSettings),
    // A bulk act has one ring, whose gates are those of the rollout.
    ...(kind === 'bulk' && first !== undefined
      ? { gates: { ...shownGates(first.gates), noProgressSeconds } }
      : { rings: rings.map((ring) => shownRing(ctx, ring)), gates: { noProgressSeconds } }),
    maxMovedPercent: maxMovedShare === null ? null : percentOf(maxMovedShare),
  };
}

/** Shares are stored in hundredths of a percent. */
const percentOf = (share: number): number => share / 100;

const shownLimit = (limit: Limit) => ('count' in limit ? { count: limit.count } : { percent: percentOf(limit.share) });

function shownSelection(ctx: Pick<Context, 'fleetFields'>, select: Selection): Record<string, unknown> {
  if ('ids' in select) return { ids: select.ids };
  const filter = (stored: Readonly<Record<string, unknown>>) => shownFilter(ctx.fleetFields, stored);
  const exclude = select.exclude === undefined ? {} : { exclude: filter(select.exclude) };
  if ('all' in select) return { all: true, ...exclude };
  return { include: filter(select.include), ...exclude, ...(select.ring !== undefined && { ring: select.ring }) };
}

function shownChange({ publicSettings, protectedSettings, run, ...change }: RolloutChange, withSettings: boolean) {
  return {
    ...change,
    ...(run !== undefined && shownRun(run, withSettings)),
    ...(withSettings && publicSettings !== null && { publicSettings }),
    ...(protectedSettings === 'removed' && { protectedSettings: null }),
  };
}

function shownRun({ secretParameters: _, parameters, ...run }: RunChange, withSettings: boolean) {
  return { ...run, ...(withSettings && { parameters }) };
}

/** Returns a ring in the form that requests have. */
export function shownRing(ctx: Pick<Context, 'fleetFields'>, ring: RingDefinition): Record<string, unknown> {
  const { name, filter, upTo, approval, windows, gates } = ring;
  return {
    ...{ name, approval, windows },
    ...(filter !== null && { filter: shownFilter(ctx.fleetFields, filter) }),
    ...(upTo !== null && { upTo: shownLimit(upTo) }),
    gates: shownGates(gates),
  };
}

function shownGates({ inFlight, errors, success, compare, ...numbers }: Gates): Record<string, unknown> {
  return {
    ...numbers,
    inFlight: shownLimit(inFlight),
    errors: errors && ('count' in errors ? errors : { percent: percentOf(errors.share), atLeast: errors.atLeast }),
    success: success && { percent: percentOf(success.share), atLeast: success.atLeast },
    compare: compare && {
      minEffectPercent: percentOf(compare.minEffectShare),
      ...{ minPairs: compare.minPairs, onTooFew: compare.onTooFew },
    },
  };
}
