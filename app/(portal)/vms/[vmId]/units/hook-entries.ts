import type { inferRouterOutputs } from '@trpc/server';
import { needsAttention, type VmHealth } from '#server/domain/verdicts/words.ts';
import type { AppRouter } from '#server/trpc/root.ts';
import type { QueueDetails, QueueLine } from '../vm-data.ts';

export type VmUnits = inferRouterOutputs<AppRouter>['units']['ofVm'];
export type ShownVmUnit = VmUnits['items'][number];

/** A hook in the queue of a machine. */
export interface HookEntry extends Pick<QueueLine, 'id' | 'since' | 'limitSeconds' | 'turn'> {
  model: string;
  unit: string;
  hook: string;
  remoteUnit: string | null;
  /** What the hook waits for, as a sentence, and until when; null if it runs in its turn. */
  waits: { text: string; until: string | null } | null;
}

/** Returns the hook of a queue’s entry; null if it is another entry. */
export function hookOf({ hook: of, name: unit, reason, ...entry }: QueueLine): HookEntry | null {
  if (of === null) return null;
  const { id, since, limitSeconds, turn } = entry;
  const { model, hook, remoteUnit, nextAttemptBefore: until } = of;
  return {
    ...{ id, since, limitSeconds, turn, model, unit, hook, remoteUnit },
    waits: reason && { text: reason.text, until },
  };
}

/** Returns the hook of a unit that runs, or the one that is first in the queue; null if no hook is due. */
export function nextHookOf(unit: string, { now, next, waiting }: QueueDetails): HookEntry | null {
  const entry = [...(now === null ? [] : [now]), ...next, ...waiting].find(
    ({ kind, name }) => kind === 'hook' && name === unit,
  );
  return entry === undefined ? null : hookOf(entry);
}

const healths: readonly (VmHealth | null)[] = [...needsAttention, 'progressing', 'unknown', 'healthy'];

/** Sorts units by their health, the worst first; units that are equally healthy keep their order. */
export const worstFirst = <Unit extends Pick<ShownVmUnit, 'health'>>(units: readonly Unit[]): Unit[] =>
  units.toSorted((a, b) => healths.indexOf(a.health) - healths.indexOf(b.health));
