import type { SettingsObject } from '#app/_ui/schema-form/form.tsx';
import { tagText } from '#server/domain/fleet/address.ts';
import type { FleetFilter } from '#server/domain/fleet/index.ts';
import { type Terms, termsOf } from '../../vms/[vmId]/executions/new/terms.ts';
import { isEmptySecret, type ProtectedDraft } from '../../vms/[vmId]/extensions/_editor/draft.ts';
import { isFiltered, withoutGaps } from '../../vms/fleet-address.ts';
import type {
  SelectionInput,
  SentChange,
  SentDefinition,
  SentFilter,
  SentStrategy,
  WindowInput,
} from './definition.ts';
import { withoutUnused } from './run-parts.ts';

/** The change as the form edits it. An empty text leaves the field as each VM has it. */
export interface ChangeForm {
  kind: SentChange['kind'];
  handler: string;
  extension: string;
  version: string;
  state: '' | 'enabled' | 'disabled';
  /** Public settings that change; null removes a setting. */
  settings: SettingsObject;
  /** Whether `settings` replace all public settings of each VM. */
  replaces: boolean;
  secrets: ProtectedDraft;
  onAbsent: 'skip' | 'install';
  allowLower: boolean;
  run: RunForm;
  /** Parts of the change that the form does not edit. */
  rest: Readonly<Record<string, unknown>>;
}

/** What a change of kind `run` runs. */
export interface RunForm {
  runbook: string;
  version: string;
  /** Undefined until the version is loaded, and null while the parameters are written as JSON that is not valid yet. */
  parameters: SettingsObject | null | undefined;
  /** Secret parameters that were entered. Without any, an edit keeps the stored ones. */
  secrets: SettingsObject;
  /** How long an execution may run and wait. Undefined until the version is loaded, whose own terms apply. */
  terms: Terms | undefined;
  /** The names of secret parameters that are stored, and kept unless others are entered. */
  kept?: readonly string[];
}

/** A rollout as the form edits it. */
export interface RolloutForm extends SentStrategy {
  name: string;
  note: string;
  /** Which VMs the rollout selects: those that match `include`, all, or those in `ids`. */
  target: 'filter' | 'all' | 'ids';
  include: FleetFilter;
  exclude: FleetFilter;
  ids: readonly string[];
  change: ChangeForm;
  strategy: string;
  windows: WindowInput[];
  availabilitySets: 'respect' | 'ignore';
  /** A local time, as in a `datetime-local` input; empty to start now. */
  startAt: string;
  /** Parts of the definition that the form does not edit. */
  rest: Readonly<Record<string, unknown>>;
}

/** A change that declares nothing. */
export const emptyChange: ChangeForm = {
  kind: 'set',
  handler: '',
  extension: '',
  version: '',
  state: '',
  settings: {},
  replaces: false,
  secrets: { mode: 'keep' },
  onAbsent: 'skip',
  allowLower: false,
  run: { runbook: '', version: '', parameters: undefined, secrets: {}, terms: undefined },
  rest: {},
};

/** Returns the form of a new rollout. */
export function emptyForm(strategy: string, parts: SentStrategy, include: FleetFilter = {}): RolloutForm {
  return {
    name: '',
    note: '',
    target: 'filter',
    include,
    exclude: {},
    ids: [],
    change: { ...emptyChange, handler: include.handler ?? '' },
    strategy,
    ...parts,
    windows: [],
    availabilitySets: 'respect',
    startAt: '',
    rest: {},
  };
}

/** Returns the form of a rollout for which these secret parameters of a runbook are stored. */
export const withKept = (form: RolloutForm, kept: readonly string[]): RolloutForm =>
  kept.length === 0 ? form : { ...form, change: { ...form.change, run: { ...form.change.run, kept } } };

/** Returns the change without the handler's version and settings, after another handler was chosen. */
export const withHandler = (change: ChangeForm, handler: string): ChangeForm => ({
  ...emptyChange,
  kind: change.kind,
  state: change.state,
  run: change.run,
  handler,
});

/** What a run lacks before the portal can plan it; null if nothing is missing. */
type MissingOfRun = 'runbook' | 'parameters' | 'timeout' | null;
/** What is missing before the portal can plan a rollout; null if nothing is. `json`: the text is not a JSON object. */
export type MissingPart = 'target' | 'handler' | 'change' | 'secrets' | 'json' | MissingOfRun;

/** Returns what is missing in the form. */
export function missingPart(form: RolloutForm): MissingPart {
  if (form.target === 'filter' && !isFiltered(form.include)) return 'target';
  if (form.target === 'ids' && form.ids.length === 0) return 'target';
  if (form.change.kind === 'run') return missingOfRun(form.change.run);
  if (form.change.handler === '') return 'handler';
  if (isUntouched(form.change)) return 'change';
  const { kind, secrets } = form.change;
  return kind === 'set' && secrets.mode === 'replace' && isEmptySecret(secrets.values) ? 'secrets' : null;
}

/** Returns what is missing before the runbook can be planned; null if nothing is. */
export function missingOfRun({ runbook, version, parameters, terms }: RunForm): MissingOfRun {
  if (runbook === '') return 'runbook';
  if (version === '' || parameters == null) return 'parameters';
  return terms !== undefined && termsOf(terms) === null ? 'timeout' : null;
}

/** Whether the change sets nothing. */
export function isUntouched({ kind, version, state, settings, replaces, secrets, rest }: ChangeForm): boolean {
  if (kind !== 'set' || replaces || Object.keys(rest).length > 0) return false;
  return version === '' && state === '' && Object.keys(settings).length === 0 && secrets.mode === 'keep';
}

/** Returns the definition that the portal plans. `name` is used if the form has none. */
export function inputOf(given: RolloutForm, name: string): SentDefinition<SentFilter> {
  const form = given.change.kind === 'run' ? { ...given, ...withoutUnused(given) } : given;
  return {
    ...form.rest,
    name: form.name.trim() === '' ? name : form.name.trim(),
    note: form.note.trim() === '' ? null : form.note.trim(),
    strategy: form.strategy,
    select: selectionOf(form),
    change: changeOf(form.change),
    rings: form.rings.map(({ filter, ...ring }) => (filter ? { ...ring, filter: sentFilter(filter) } : ring)),
    gates: form.gates,
    silent: form.silent,
    newcomers: form.newcomers,
    onStepFailure: form.onStepFailure,
    onHalt: form.onHalt,
    availabilitySets: form.availabilitySets,
    windows: form.windows,
    startAt: form.startAt === '' ? null : new Date(form.startAt).toISOString(),
  };
}

/** Returns a filter in the form that definitions have: tags are texts such as `env=prod`. */
export function sentFilter(filter: FleetFilter): SentFilter {
  return Object.fromEntries(
    Object.entries(withoutGaps(filter)).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map((entry) => (typeof entry === 'string' ? entry : tagText(entry))) : value,
    ]),
  );
}

function selectionOf({ target, include, exclude, ids }: RolloutForm): SelectionInput<SentFilter> {
  const without = isFiltered(exclude) ? { exclude: sentFilter(exclude) } : {};
  if (target === 'ids') return { ids: [...ids] };
  return target === 'all' ? { all: true, ...without } : { include: sentFilter(include), ...without };
}

/** Returns the change that the portal plans. */
export function changeOf(change: ChangeForm): SentChange {
  if (change.kind === 'run') return runOf(change);
  const scope = { handler: change.handler, extension: change.extension.trim() === '' ? null : change.extension.trim() };
  if (change.kind !== 'set') return { ...change.rest, kind: change.kind, ...scope };
  const { settings, secrets } = change;
  const touches = change.replaces || Object.keys(settings).length > 0;
  return {
    ...change.rest,
    kind: 'set',
    ...scope,
    version: change.version === '' ? null : change.version,
    state: change.state === '' ? null : change.state,
    publicSettings: touches ? (change.replaces ? { replace: settings } : { merge: settings }) : null,
    ...(secrets.mode === 'remove' && { protectedSettings: null }),
    ...(secrets.mode === 'replace' && { protectedSettings: secrets.values }),
    onAbsent: change.onAbsent,
    allowLower: change.allowLower,
  };
}

function runOf({ run: { runbook, version, parameters, secrets, terms }, rest }: ChangeForm): SentChange {
  return {
    ...rest,
    ...{ kind: 'run', runbook, version, parameters: parameters ?? {} },
    ...(terms && termsOf(terms)),
    ...(Object.keys(secrets).length > 0 && { secretParameters: secrets }),
  };
}
