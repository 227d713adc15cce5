import type { FormulaManifest } from '#protocol/formula.ts';
import { unitLimits } from '#protocol/unit-state.ts';
import type { Fault } from '#server/domain/error.ts';
import { matchEndpoints, readEndpoint } from '../relations/match-endpoints.ts';
import { endpointsOf, isDeclared } from './document-of.ts';
import { at, type Desired, type ModelPlan, type PlannedRelation } from './model-plan.ts';
import type { ModelState, RelationState } from './read-state.ts';
import { documentLimits } from './schema.ts';

type RelationPlan = Pick<ModelPlan, 'relations' | 'faults'> & { surplus: RelationState[] };

/** Plans relations: which are missing, and which the document leaves out. */
export function planRelations(desired: Desired, state: ModelState | null): RelationPlan {
  const { document, prepared } = desired;
  const present = new Map(state?.relations.filter(isRelated).map((one) => [endpointsOf(one).join(' '), one]));
  const faults: Fault[] = [];
  const found = new Map<string, PlannedRelation>();
  document.relations.forEach((pair, index) => {
    const path = at('relations', index);
    const missing = pair.flatMap((end, side) => {
      const { service } = readEndpoint(end);
      return Object.hasOwn(document.services, service) ? [] : [{ path: at('relations', index, side), service }];
    });
    faults.push(...missing.map((one) => ({ path: one.path, code: 'document_service_missing' as const })));
    const [one, other] = pair.map(readEndpoint).map((end) => ({ ...end, formula: prepared.get(end.service)?.formula }));
    if (missing.length > 0 || !one?.formula || !other?.formula) return;
    const match = matchEndpoints(
      { ...one, formula: one.formula.manifest },
      { ...other, formula: other.formula.manifest },
    );
    if (match.kind !== 'pair') {
      faults.push({ path, ...refusalOf(match) });
      return;
    }
    const { requires, provides, interface: spoken } = match.pair;
    const endpoints: [string, string] = [
      `${requires.service}:${requires.name}`,
      `${provides.service}:${provides.name}`,
    ];
    const key = endpoints.join(' ');
    if (found.has(key)) faults.push({ path, code: 'document_relation_twice', params: { endpoints: key } });
    if (present.get(key)?.life === 'dying') faults.push({ path, code: 'relation_dying', params: { endpoints: key } });
    found.set(key, { endpoints, interface: spoken, path });
  });
  const relations = [...found].filter(([key]) => !present.has(key)).map(([, relation]) => relation);
  const surplus = [...present].filter(([key, one]) => isDeclared(one) && !found.has(key)).map(([, one]) => one);
  faults.push(...crowdedEndpoints(relations, surplus, desired, state), ...lostEndpoints(surplus, desired, state));
  return { relations, surplus, faults };
}

const isRelated = ({ endpoints }: RelationState): boolean => endpoints.every(({ side }) => side !== 'peer');

function refusalOf(match: Exclude<ReturnType<typeof matchEndpoints>, { kind: 'pair' }>): Omit<Fault, 'path'> {
  if (match.kind === 'none') return { code: 'relation_no_match', params: { offers: match.offers.join(', ') } };
  const pairs = match.pairs.map(({ requires, provides }) => {
    return `${requires.service}:${requires.name} ${provides.service}:${provides.name}`;
  });
  return { code: 'relation_ambiguous', params: { pairs: pairs.join(', ') } };
}

/** Rejects relations beyond the limits of endpoints, services and models. What ends in the apply does not count. */
function crowdedEndpoints(
  added: readonly PlannedRelation[],
  surplus: readonly RelationState[],
  { prepared, prune }: Desired,
  state: ModelState | null,
): Fault[] {
  const ended = new Set(prune ? surplus.filter(({ hasUnits }) => !hasUnits).map(({ id }) => id) : []);
  const used = new Map<string, number>();
  const use = (name: string): number => {
    used.set(name, (used.get(name) ?? 0) + 1);
    return used.get(name) ?? 0;
  };
  const kept = state?.relations.filter(({ id }) => !ended.has(id)) ?? [];
  for (const { endpoints } of kept) {
    for (const { service, name } of endpoints) for (const key of [`${service}:${name}`, service]) use(key);
  }
  const faults: Fault[] = [];
  added.forEach(({ endpoints, path }, index) => {
    const all = kept.length + index + 1;
    const limits = endpoints.map((endpoint, side) => {
      const { service, endpoint: name } = readEndpoint(endpoint);
      const manifest = prepared.get(service)?.formula.manifest;
      const limit = manifest?.[side === 0 ? 'requires' : 'provides'][name ?? '']?.limit ?? null;
      return { endpoint, limit, count: use(endpoint), ofService: use(service) };
    });
    const full = limits.find(({ limit, count }) => limit !== null && count > limit);
    if (full !== undefined) {
      faults.push({ path, code: 'relation_limit', params: { endpoint: full.endpoint, limit: full.limit ?? 0 } });
    }
    const crowded = limits.some(({ ofService }) => ofService > unitLimits.relationsOfUnit);
    const limit = crowded ? unitLimits.relationsOfUnit : documentLimits.relations;
    if (crowded || all > limit) faults.push({ path, code: 'relations_too_many', params: { limit } });
  });
  return faults;
}

/** Rejects versions that lack an endpoint of a relation that stays. */
function lostEndpoints(
  surplus: readonly RelationState[],
  { prepared, prune }: Desired,
  state: ModelState | null,
): Fault[] {
  const ending = new Set(prune ? surplus.map(({ id }) => id) : []);
  const staying = state?.relations.filter((one) => isDeclared(one) && !ending.has(one.id)) ?? [];
  return [...prepared].flatMap(([name, { formula, current }]): Fault[] => {
    if (current === undefined || current.formulaVersion === formula.version) return [];
    const lost = staying.flatMap(({ endpoints, interface: spoken }) =>
      endpoints.filter((one) => one.service === name && !offers(formula.manifest, one, spoken)),
    )[0];
    if (lost === undefined) return [];
    const params = { version: formula.version, endpoint: `${name}:${lost.name}` };
    return [{ path: at('services', name, 'version'), code: 'formula_lacks_endpoint', params }];
  });
}

const offers = (
  manifest: FormulaManifest,
  { side, name }: RelationState['endpoints'][number],
  spoken: string,
): boolean => side !== 'peer' && manifest[side][name]?.interface === spoken;
