import type { DueLine } from './due-lines.ts';
import type { ShownDue, ShownFailure } from './unit-data.ts';

/** What skipping a hook means: what counts as done, what runs next, and when the hook runs again. */
export interface SkipEffects {
  counts: 'install' | 'upgrade' | 'config' | 'start' | 'stop' | 'joined' | 'changed' | 'departed' | 'broken';
  /** The hook that runs next; null if none is due. */
  next: ShownDue | null;
  /** When the same hook runs again, if it does. */
  again: 'upgrade' | 'settings' | 'reboot' | 'changed' | 'never';
}

const ofUnit: Readonly<Record<string, Pick<SkipEffects, 'counts' | 'again'>>> = {
  install: { counts: 'install', again: 'never' },
  'upgrade-formula': { counts: 'upgrade', again: 'upgrade' },
  'config-changed': { counts: 'config', again: 'settings' },
  start: { counts: 'start', again: 'reboot' },
  stop: { counts: 'stop', again: 'never' },
};

const ofRelation: Readonly<Record<string, Pick<SkipEffects, 'counts' | 'again'>>> = {
  joined: { counts: 'joined', again: 'never' },
  changed: { counts: 'changed', again: 'changed' },
  departed: { counts: 'departed', again: 'never' },
  broken: { counts: 'broken', again: 'never' },
};

/** Returns what skipping a hook that fails means (EN-49). */
export function skipEffects(failure: ShownFailure, lines: readonly DueLine[]): SkipEffects {
  const event = failure.hook.slice(failure.hook.lastIndexOf('-') + 1);
  const meaning = failure.relation === null ? ofUnit[failure.hook] : ofRelation[event];
  const at = lines.findIndex(({ state }) => state.kind === 'retry' && state.failure === failure);
  const next = lines.slice(at + 1).find(({ state, due }) => state.kind !== 'retry' && isReached(due, failure));
  return { counts: 'changed', again: 'never', ...meaning, next: at < 0 ? null : (next?.due ?? null) };
}

/** After a hook of the unit, every hook can run; after a hook of a relation, those of the same relation. */
const isReached = ({ relation }: ShownDue, failure: ShownFailure): boolean =>
  failure.relation === null || relation === failure.relation.id;
