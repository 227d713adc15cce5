import type { AgentSighting } from '#db/schema/index.ts';

type Kind = AgentSighting['kind'];

/**
 * `quietMs`: faster alternations do not count, because calls of a restarted forwarder may still be in transit.
 * `windowMs`: older alternations are ignored. Transport certificates have other limits, because agents show them only
 * once per goal state.
 */
const rules: Readonly<Record<Kind, { quietMs: number; windowMs: number }>> = {
  forwarder: { quietMs: 10_000, windowMs: 600_000 },
  container: { quietMs: 10_000, windowMs: 600_000 },
  transport: { quietMs: 0, windowMs: 7 * 24 * 3_600_000 },
};
/** Once two machines are known, this is the minimum time between stored alternations. */
const knownQuietMs = 60_000;
/** Maximum number of alternations stored per kind. */
const maxTurns = 6;

/**
 * Returns the sightings with a new sighting at the end; null if the mark equals the last mark of its kind, or was seen
 * too soon after that mark.
 */
export function withSighting(
  sightings: readonly AgentSighting[],
  { kind, mark }: Pick<AgentSighting, 'kind' | 'mark'>,
  now: Date,
): AgentSighting[] | null {
  const turns = sightings.filter((each) => each.kind === kind);
  const last = turns.at(-1);
  const quietMs = areTwoMachines(turns, kind, now) ? knownQuietMs : rules[kind].quietMs;
  if (last && (last.mark === mark || now.getTime() - Date.parse(last.at) < quietMs)) return null;
  const others = sightings.filter((each) => each.kind !== kind);
  return [...others, ...turns.slice(1 - maxTurns), { kind, mark, at: now.toISOString() }];
}

/**
 * Whether two machines alternate, which is certain once two marks have each returned. After a restart, a machine has a
 * new mark, and its old mark never returns. If a machine is moved to another host and back, only one mark returns.
 */
export function areTwoMachines(sightings: readonly AgentSighting[], kind: Kind, now: Date): boolean {
  const since = now.getTime() - rules[kind].windowMs;
  const counts = new Map<string, number>();
  for (const { mark, at, ...each } of sightings) {
    if (each.kind === kind && Date.parse(at) >= since) counts.set(mark, (counts.get(mark) ?? 0) + 1);
  }
  return [...counts.values()].filter((count) => count > 1).length > 1;
}
