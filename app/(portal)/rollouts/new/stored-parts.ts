import type { portal } from '#app/_lib/portal.ts';
import { tagFrom } from '#server/domain/fleet/address.ts';
import type { FleetFilter } from '#server/domain/fleet/index.ts';
import type { RolloutView } from '#server/domain/rollouts/index.ts';
import { firstOf } from '../../vms/[vmId]/extensions/_editor/page-parts.ts';
import type { SelectionInput, SentDefinition, SentFilter, SentGates, SentRing, SentStrategy } from './definition.ts';
import type { StrategyChoice } from './how-card.tsx';
import { matchesQuery } from './matches-query.ts';
import { withoutShared } from './read-form.ts';
import type { ChangeForm, RolloutForm } from './rollout-form.ts';
import type { LoadedSchema } from './settings-patch-props.ts';
import type { LoadedMatches } from './use-matches.ts';

type Api = Awaited<ReturnType<typeof portal>>;

/** Returns the strategies to choose from, the usual one first. */
export async function strategiesOf(api: Api): Promise<StrategyChoice[]> {
  const { items } = await api.strategies.list();
  return items.map(({ name, builtIn, strategy }) => ({ name, isBuiltIn: builtIn, parts: partsOf(strategy) }));
}

/** Returns the first VMs that a form selects by a filter; null if it selects none by a filter. */
export async function matchesOf(api: Api, { target, include }: RolloutForm): Promise<LoadedMatches | null> {
  const of = { target, include };
  const { input, isOpen } = matchesQuery(of);
  return isOpen ? { of, list: await api.fleet.list(input) } : null;
}

/** Returns the schema for the settings of a change, by the newest version if it names none; null if there is none. */
export async function schemaFor(api: Api, { handler, version }: ChangeForm): Promise<LoadedSchema | null> {
  if (handler === '') return null;
  const found = await api.handlers.get({ handler }).catch(() => null);
  const used = version === '' ? found?.versions.find(({ state }) => state === 'published')?.version : version;
  if (found === null || !found.versions.some((known) => known.version === used) || used === undefined) return null;
  return { handler, ...(await firstOf(api, handler, used)) };
}

/** Returns the parts of a strategy. Gates that all rings share are those of the first. */
function partsOf(strategy: Readonly<Record<string, unknown>>): SentStrategy {
  const { silent, newcomers, onStepFailure, onHalt, rings: given } = strategy as unknown as SentStrategy<SentFilter>;
  const gates = given[0]?.gates as SentGates;
  const rings = withoutShared(given.map(ringOf));
  return { rings, gates, silent, newcomers, onStepFailure, onHalt };
}

/** Returns the definition of a rollout, with its filters as the VM list has them. */
export function definitionOf({
  definition,
  name,
  note,
}: Pick<RolloutView, 'name' | 'note'> & { definition: object }): SentDefinition {
  const given = definition as unknown as SentDefinition<SentFilter>;
  const { rings, ...rest } = given;
  return { ...rest, name, note, select: selectionOf(given.select), ...(rings && { rings: rings.map(ringOf) }) };
}

function selectionOf(select: SelectionInput<SentFilter>): SelectionInput {
  if ('ids' in select) return select;
  const exclude = select.exclude ? { exclude: filterOf(select.exclude) } : {};
  return 'all' in select ? { all: true, ...exclude } : { include: filterOf(select.include), ...exclude };
}

function ringOf({ filter, ...ring }: SentRing<SentFilter>): SentRing {
  return filter ? { ...ring, filter: filterOf(filter) } : ring;
}

/** Reads tags, which definitions have as texts such as `env=prod`. */
const filterOf = (filter: SentFilter): FleetFilter =>
  Object.fromEntries(
    Object.entries(filter).map(([name, value]) => [
      name,
      (name === 'tags' || name === 'notTags') && Array.isArray(value) ? value.map(tagFrom) : value,
    ]),
  );
