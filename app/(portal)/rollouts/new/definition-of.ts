import { tagFrom } from '#server/domain/fleet/address.ts';
import type { FleetFilter } from '#server/domain/fleet/index.ts';
import type { RolloutView } from '#server/domain/rollouts/index.ts';
import type { SelectionInput, SentDefinition, SentFilter, SentRing } from './definition.ts';

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

/** Returns a ring with its filter as the VM list has it. */
export function ringOf({ filter, ...ring }: SentRing<SentFilter>): SentRing {
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
