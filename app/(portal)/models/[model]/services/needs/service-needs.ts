import { type FailingGroup, failingGroups } from '../failing-groups.ts';
import { missingRelations, type ShownEndpointOfFormula, type ShownService } from '../service-data.ts';

/** What needs attention among the services of a model. */
export type ServiceNeed =
  | { kind: 'failing'; group: FailingGroup }
  | { kind: 'release'; service: string; units: { unit: string; vm: string }[] }
  | { kind: 'relation'; service: string; units: number; endpoint: ShownEndpointOfFormula }
  | { kind: 'enroll'; units: { unit: string; vmId: string; vm: string }[] }
  | { kind: 'empty'; service: string };

/**
 * Returns what needs attention, the most urgent first: hooks that fail, protected settings that an admin must release,
 * services that need a relation, units whose machines are not enrolled, and services without units.
 */
export function serviceNeeds(services: readonly ShownService[]): ServiceNeed[] {
  const living = services.filter(({ life }) => life === 'alive');
  const placed = services.flatMap(({ units }) => units.filter(({ stage }) => stage === 'placed'));
  return [
    ...failingGroups(services).map((group) => ({ kind: 'failing' as const, group })),
    ...living.flatMap(({ name, units }) => {
      const withheld = units.filter(({ needsRelease }) => needsRelease).map(({ unit, vm }) => ({ unit, vm }));
      return withheld.length === 0 ? [] : [{ kind: 'release' as const, service: name, units: withheld }];
    }),
    ...living.flatMap((service) =>
      missingRelations(service).map((endpoint) => {
        return { kind: 'relation' as const, service: service.name, units: service.units.length, endpoint };
      }),
    ),
    ...(placed.length === 0
      ? []
      : [{ kind: 'enroll' as const, units: placed.map(({ unit, vmId, vm }) => ({ unit, vmId, vm })) }]),
    ...living.filter(({ units }) => units.length === 0).map(({ name }) => ({ kind: 'empty' as const, service: name })),
  ];
}

/** Returns a name that identifies a need. */
export function keyOfNeed(need: ServiceNeed): string {
  switch (need.kind) {
    case 'failing':
      return need.group.key;
    case 'relation':
      return `relation ${need.service} ${need.endpoint.name}`;
    case 'empty':
    case 'release':
      return `${need.kind} ${need.service}`;
    case 'enroll':
      return 'enroll';
  }
}
