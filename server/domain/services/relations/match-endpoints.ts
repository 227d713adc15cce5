import type { FormulaManifest } from '#protocol/formula.ts';
import type { RelationSide } from '#protocol/formula-words.ts';

type Formula = Pick<FormulaManifest, RelationSide>;

/** A service as a request names it, with the name of its endpoint if the request gives one. */
export interface NamedService {
  service: string;
  endpoint: string | null;
  formula: Formula;
}

/** An endpoint of a service. */
export interface ServiceEndpoint {
  service: string;
  name: string;
  limit: number | null;
}

/** Two endpoints that can be joined by a relation. */
export interface EndpointPair {
  interface: string;
  provides: ServiceEndpoint;
  requires: ServiceEndpoint;
}

/** The result of a match: one pair, or why there is not exactly one. */
type EndpointMatch =
  | { kind: 'pair'; pair: EndpointPair }
  | { kind: 'ambiguous'; pairs: EndpointPair[] }
  | { kind: 'none'; offers: string[] };

/**
 * Finds the endpoints by which two services can be related: one provides and the other requires the same interface. A
 * service is never related to itself this way, because a unit has one node in a relation.
 */
export function matchEndpoints(one: NamedService, other: NamedService): EndpointMatch {
  const pairs = one.service === other.service ? [] : [...pairsOf(one, other), ...pairsOf(other, one)];
  const [pair, ...more] = pairs;
  if (pair === undefined) return { kind: 'none', offers: [offerOf(one), offerOf(other)] };
  return more.length === 0 ? { kind: 'pair', pair } : { kind: 'ambiguous', pairs };
}

/** Formats a pair as a request names it: `wordpress:db mysql:db`. */
export function pairText({ provides, requires }: EndpointPair): string {
  return `${requires.service}:${requires.name} ${provides.service}:${provides.name}`;
}

/** Splits `mysql:db` or `mysql` into service and endpoint. */
export function readEndpoint(text: string): { service: string; endpoint: string | null } {
  const [service = '', endpoint = null] = text.split(':');
  return { service, endpoint };
}

function pairsOf(provider: NamedService, requirer: NamedService): EndpointPair[] {
  return endpointsOf(provider, 'provides').flatMap(({ interface: offered, ...provides }) =>
    endpointsOf(requirer, 'requires')
      .filter((wanted) => wanted.interface === offered)
      .map(({ interface: _, ...requires }) => ({ interface: offered, provides, requires })),
  );
}

function endpointsOf({ service, endpoint, formula }: NamedService, side: 'provides' | 'requires') {
  return Object.entries(formula[side])
    .filter(([name]) => endpoint === null || name === endpoint)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { interface: spoken, limit }]) => ({ service, name, limit, interface: spoken }));
}

/** Lists the endpoints of a service in the words of its formula: `mysql (provides: db [mysql])`. */
function offerOf(named: NamedService): string {
  const listed = (['provides', 'requires'] as const).flatMap((side) => {
    const all = endpointsOf({ ...named, endpoint: null }, side).map((each) => `${each.name} [${each.interface}]`);
    return all.length === 0 ? [] : [`${side}: ${all.join(', ')}`];
  });
  return `${named.service} (${listed.join('; ') || '–'})`;
}
