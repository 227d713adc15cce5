import { healthOfService, type ShownRelation, type ShownService, sortWorstFirst } from '../service-data.ts';
import { endsOf } from './picture-layout.ts';

/** Number of relations that may lie between the middle of a picture and a service in it. */
const maxLines = 2;

/** A part of a model that a picture can show. */
export interface Neighborhood {
  services: readonly ShownService[];
  relations: readonly ShownRelation[];
}

/**
 * Returns the services that are at most two relations away from one service, nearest first and at most `most`, with the
 * relations between them.
 */
export function neighborhoodOf({ services, relations }: Neighborhood, middle: string, most: number): Neighborhood {
  const lines = relations.flatMap((relation) => endsOf(relation) ?? []);
  const linked = Map.groupBy(
    lines.flatMap(({ from, to }) => [
      { of: from, name: to },
      { of: to, name: from },
    ]),
    ({ of }) => of,
  );
  const found = new Set([middle]);
  let ring = [middle];
  for (let line = 0; line < maxLines; line += 1) {
    ring = ring.flatMap((of) => (linked.get(of) ?? []).map(({ name }) => name)).filter((name) => !found.has(name));
    for (const name of ring) if (found.size < most) found.add(name);
  }
  return {
    services: services.filter(({ name }) => found.has(name)),
    relations: relations.filter((relation) => {
      const ends = endsOf(relation);
      return ends !== null && found.has(ends.from) && found.has(ends.to);
    }),
  };
}

/** Returns the service in the middle of the first picture: the worst one, or the first with a relation if all are well. */
export function firstMiddle({ services, relations }: Neighborhood): string | undefined {
  const [worst] = sortWorstFirst(services);
  const isBad = worst !== undefined && !['healthy', 'progressing', null].includes(healthOfService(worst));
  const related = relations.flatMap((relation) => endsOf(relation)?.from ?? [])[0];
  return isBad ? worst.name : (related ?? worst?.name);
}

/** Returns the service that a search finds: the one with this name, or the first whose name contains the text. */
export function findService(services: readonly Pick<ShownService, 'name'>[], search: string): string | undefined {
  const wanted = search.trim().toLowerCase();
  if (wanted === '') return undefined;
  const names = services.map(({ name }) => name);
  return (
    names.find((name) => name === wanted) ??
    names.find((name) => name.startsWith(wanted)) ??
    names.find((name) => name.includes(wanted))
  );
}
