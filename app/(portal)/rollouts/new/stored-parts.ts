import type { portal } from '#app/_lib/portal.ts';
import { firstOf } from '../../vms/[vmId]/extensions/_editor/page-parts.ts';
import type { SentFilter, SentGates, SentStrategy } from './definition.ts';
import { ringOf } from './definition-of.ts';
import { matchesQuery } from './matches-query.ts';
import { sharedGates, withoutShared } from './read-form.ts';
import type { ChangeForm, RolloutForm } from './rollout-form.ts';
import type { LoadedSchema } from './settings-patch-props.ts';
import type { StrategyChoice } from './strategy-choice.ts';
import type { LoadedMatches } from './use-matches.ts';

type Api = Awaited<ReturnType<typeof portal>>;

/** Returns the strategies to choose from, the usual one first. */
export async function strategiesOf(api: Api): Promise<StrategyChoice[]> {
  const { items } = await api.strategies.list();
  return items.map(({ name, builtIn, strategy, automaticFor }) => ({
    ...{ name, isBuiltIn: builtIn, automaticFor },
    parts: partsOf(strategy),
  }));
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
  const gates = sharedGates(given.map(ringOf)) as SentGates;
  const rings = withoutShared(given.map(ringOf));
  return { rings, gates, silent, newcomers, onStepFailure, onHalt };
}
