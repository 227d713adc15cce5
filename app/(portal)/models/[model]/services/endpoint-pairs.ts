import type { ShownEndpointOfFormula, ShownRelation, ShownService } from './service-data.ts';

/** An endpoint of a service. */
export interface NamedEndpoint {
  service: string;
  name: string;
}

/** Two endpoints that can be related. */
export interface ShownPair {
  interface: string;
  requires: NamedEndpoint;
  provides: NamedEndpoint;
  /** Whether the formula that requires the relation works without it. */
  optional: boolean;
}

type Service = Pick<ShownService, 'name' | 'life' | 'endpoints'>;

/**
 * Returns the pairs of endpoints of a model that can be related now: one requires the interface that the other provides,
 * neither has as many relations as its formula allows, and they are not related yet. Pairs that a service needs come
 * first.
 */
export function endpointPairs(
  services: readonly Service[],
  relations: readonly Pick<ShownRelation, 'endpoints'>[],
): ShownPair[] {
  const living = services.filter(({ life }) => life === 'alive');
  const related = new Set(relations.map(({ endpoints }) => keyOf(endpoints)));
  const providers = living.flatMap((service) => freeEndpoints(service, 'provides'));
  const byInterface = Map.groupBy(providers, ({ endpoint }) => endpoint.interface);
  const pairs = living.flatMap((service) =>
    freeEndpoints(service, 'requires').flatMap(({ endpoint }) =>
      (byInterface.get(endpoint.interface) ?? [])
        .filter((other) => other.service !== service.name)
        .map((other): ShownPair => {
          return {
            interface: endpoint.interface,
            requires: { service: service.name, name: endpoint.name },
            provides: { service: other.service, name: other.endpoint.name },
            optional: endpoint.optional,
          };
        }),
    ),
  );
  return pairs
    .filter(({ requires, provides }) => !related.has(keyOf([requires, provides])))
    .sort((a, b) => Number(a.optional) - Number(b.optional));
}

/** Formats an endpoint as people and the API name it. */
export const endpointText = ({ service, name }: NamedEndpoint): string => `${service}:${name}`;

/** Identifies a pair of endpoints, in either order. */
const keyOf = (endpoints: readonly NamedEndpoint[]): string => endpoints.map(endpointText).sort().join(' ');

function freeEndpoints(
  { name: service, endpoints }: Service,
  side: ShownEndpointOfFormula['side'],
): { service: string; endpoint: ShownEndpointOfFormula }[] {
  return endpoints
    .filter((endpoint) => endpoint.side === side && (endpoint.limit === null || endpoint.relations < endpoint.limit))
    .map((endpoint) => ({ service, endpoint }));
}
