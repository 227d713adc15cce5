import { localTime } from '#app/_lib/local-time.ts';
import { termsFrom } from '../../vms/[vmId]/executions/new/terms.ts';
import type { SentChange, SentDefinition, SentGates, SentRing, SentStrategy } from './definition.ts';
import { type ChangeForm, emptyForm, type RolloutForm, type RunForm } from './rollout-form.ts';

/** Parts of a definition that the form edits. Other parts are sent back unchanged. */
const edited = new Set<string>([
  'kind',
  'name',
  'note',
  'strategy',
  'select',
  'change',
  'rings',
  'gates',
  'silent',
  'newcomers',
  'onStepFailure',
  'onHalt',
  'availabilitySets',
  'windows',
  'startAt',
] satisfies (keyof SentDefinition)[]);

/** Parts of a change that the form edits. */
const changed = new Set<string>([
  'kind',
  'handler',
  'extension',
  'version',
  'state',
  'publicSettings',
  'protectedSettings',
  'onAbsent',
  'allowLower',
  'runbook',
  'parameters',
  'secretParameters',
  'timeoutSeconds',
  'validForSeconds',
] satisfies (keyof SentChange)[]);

/** Returns the form of a stored definition. `fallback` has the values that the definition leaves to its strategy. */
export function formOf(definition: SentDefinition, fallback: SentStrategy): RolloutForm {
  const { select, strategy = 'careful' } = definition;
  const rest = Object.fromEntries(Object.entries(definition).filter(([name]) => !edited.has(name)));
  const form = emptyForm(strategy, { ...fallback, ...partsOf(definition, fallback.gates) });
  return {
    ...form,
    name: definition.name,
    note: definition.note ?? '',
    target: 'ids' in select ? 'ids' : 'all' in select ? 'all' : 'filter',
    include: 'include' in select ? select.include : {},
    exclude: 'exclude' in select ? (select.exclude ?? {}) : {},
    ids: 'ids' in select ? select.ids : [],
    change: changeFormOf(definition.change, form.change),
    windows: definition.windows ?? [],
    availabilitySets: definition.availabilitySets ?? 'respect',
    startAt: definition.startAt == null ? '' : localTime(new Date(definition.startAt)),
    rest,
  };
}

/** Returns what the definition itself contains. Without gates of the rollout, those that most rings have are shared. */
function partsOf({ rings, gates, ...definition }: SentDefinition, fallback: SentGates): Partial<SentStrategy> {
  const { noProgressSeconds: _, ...limits } = gates ?? {};
  const isShared = Object.keys(limits).length > 0;
  const shared = isShared ? gates : { ...sharedGates(rings ?? []), ...gates };
  return {
    ...(rings !== undefined && { rings: isShared ? rings : withoutShared(rings) }),
    ...(Object.keys(shared ?? {}).length > 0 && { gates: { ...fallback, ...shared } }),
    ...(definition.silent !== undefined && { silent: definition.silent }),
    ...(definition.newcomers !== undefined && { newcomers: definition.newcomers }),
    ...(definition.onStepFailure !== undefined && { onStepFailure: definition.onStepFailure }),
    ...(definition.onHalt !== undefined && { onHalt: definition.onHalt }),
  };
}

/** Returns the gates that most rings have; undefined if no ring has any. */
export function sharedGates(rings: readonly Pick<SentRing, 'gates'>[]): SentRing['gates'] {
  const groups = [...Map.groupBy(rings, ({ gates }) => JSON.stringify(gates)).values()];
  return groups.toSorted((a, b) => b.length - a.length)[0]?.[0]?.gates;
}

/** Removes the gates that most rings have. */
export function withoutShared(rings: readonly SentRing[]): SentRing[] {
  const shared = JSON.stringify(sharedGates(rings));
  return rings.map(({ gates, ...ring }) =>
    gates === undefined || JSON.stringify(gates) === shared ? ring : { ...ring, gates },
  );
}

function changeFormOf(change: SentChange, empty: ChangeForm): ChangeForm {
  const settings = change.publicSettings ?? { merge: {} };
  return {
    ...empty,
    kind: change.kind,
    handler: change.handler ?? '',
    extension: change.extension ?? '',
    version: change.kind === 'run' ? '' : (change.version ?? ''),
    run: runFormOf(change, empty.run),
    state: change.state ?? '',
    settings: 'merge' in settings ? settings.merge : settings.replace,
    replaces: 'replace' in settings,
    secrets: secretsOf(change.protectedSettings),
    onAbsent: change.onAbsent ?? 'skip',
    allowLower: change.allowLower ?? false,
    rest: Object.fromEntries(Object.entries(change).filter(([name, value]) => !changed.has(name) && value !== null)),
  };
}

function runFormOf(
  { kind, runbook, version, parameters, secretParameters, ...limits }: SentChange,
  empty: RunForm,
): RunForm {
  if (kind !== 'run') return empty;
  const { timeoutSeconds, validForSeconds } = limits;
  const isLimited = timeoutSeconds != null && validForSeconds != null;
  return {
    ...{ runbook: runbook ?? '', version: version ?? '', parameters: parameters ?? undefined },
    secrets: secretParameters ?? {},
    terms: isLimited ? termsFrom({ timeoutSeconds, validForSeconds }) : empty.terms,
  };
}

function secretsOf(given: unknown): ChangeForm['secrets'] {
  if (given === null) return { mode: 'remove' };
  if (given === undefined) return { mode: 'keep' };
  return { mode: 'replace', values: given, text: JSON.stringify(given, null, 2), unread: false };
}

/** Returns a form in which the protected settings must be entered again, because the portal never returns them. */
export const withoutSecrets = (form: RolloutForm): RolloutForm => ({
  ...form,
  change: { ...form.change, secrets: { mode: 'replace', values: {}, text: '', unread: false } },
});
