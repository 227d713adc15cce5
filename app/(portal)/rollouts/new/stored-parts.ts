import type { portal } from '#app/_lib/portal.ts';
import { tagFrom } from '#server/domain/fleet/address.ts';
import type { FleetFilter } from '#server/domain/fleet/index.ts';
import type { RolloutView } from '#server/domain/rollouts/answers.ts';
import type { DefinitionInput, GatesInput, RingInput, SelectionInput, StrategyInput } from './definition.ts';
import type { StrategyChoice } from './how-card.tsx';

type Api = Awaited<ReturnType<typeof portal>>;

/** Returns the strategies to choose from, the usual one first. */
export async function strategiesOf(api: Api): Promise<StrategyChoice[]> {
  const { items } = await api.strategies.list();
  return items.map(({ name, builtIn, strategy }) => ({ name, isBuiltIn: builtIn, parts: partsOf(strategy) }));
}

/** Returns the parts of a strategy. Gates that all rings share are those of the first. */
function partsOf(strategy: Readonly<Record<string, unknown>>): StrategyInput {
  const { silent, newcomers, onStepFailure, onHalt, rings: given } = strategy as unknown as StrategyInput;
  const gates = given[0]?.gates as GatesInput;
  const rings = given.map(ringOf).map(({ gates: own, ...ring }) =>
    own === undefined || JSON.stringify(own) === JSON.stringify(gates) ? ring : { ...ring, gates: own },
  );
  return { rings, gates, silent, newcomers, onStepFailure, onHalt };
}

/** Returns the definition of a rollout, with its filters as the VM list has them. */
export function definitionOf({ definition, name, note }: RolloutView): DefinitionInput {
  const given = definition as unknown as DefinitionInput;
  return {
    ...given,
    name,
    note,
    select: selectionOf(given.select),
    ...(given.rings && { rings: given.rings.map(ringOf) }),
  };
}

function selectionOf(select: SelectionInput): SelectionInput {
  if ('ids' in select) return select;
  return {
    ...select,
    ...('include' in select && { include: filterOf(select.include) }),
    ...(select.exclude && { exclude: filterOf(select.exclude) }),
  };
}

const ringOf = (ring: RingInput): RingInput => (ring.filter ? { ...ring, filter: filterOf(ring.filter) } : ring);

/** Tags are stored as texts such as `env=prod`. */
function filterOf(filter: FleetFilter): FleetFilter {
  return Object.fromEntries(
    Object.entries(filter).map(([name, value]) => [
      name,
      /ags$/.test(name) && Array.isArray(value) ? value.map((tag) => (typeof tag === 'string' ? tagFrom(tag) : tag)) : value,
    ]),
  );
}
