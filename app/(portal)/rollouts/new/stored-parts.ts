import type { portal } from '#app/_lib/portal.ts';
import { firstOf } from '../../vms/[vmId]/extensions/_editor/page-parts.ts';
import { matchesQuery } from './matches-query.ts';
import type { ChangeForm, RolloutForm } from './rollout-form.ts';
import type { LoadedSchema } from './settings-patch-props.ts';
import { choiceOf, type StrategyChoice } from './strategy-choice.ts';
import type { LoadedMatches } from './use-matches.ts';

type Api = Awaited<ReturnType<typeof portal>>;

/** Returns the strategies to choose from, the default one first. */
export async function strategiesOf(api: Api): Promise<StrategyChoice[]> {
  const { items } = await api.strategies.list();
  return items.map(choiceOf);
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
