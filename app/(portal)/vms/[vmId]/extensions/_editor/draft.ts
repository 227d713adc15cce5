import type { SettingsObject } from '#app/_ui/schema-form/form.tsx';
import { unwrapSettings, type WrapperFault } from '#protocol/settings-wrapper.ts';
import type { ExtensionView } from '#server/domain/goal-states/index.ts';
import type { SetExtensionInput } from '#server/domain/goal-states/input.ts';

export const commands = ['install', 'update', 'enable', 'disable', 'uninstall'] as const;
export type HandlerCommand = (typeof commands)[number];
export type Goal = SetExtensionInput['goal'];

/** Why the JSON of the settings is rejected. */
export type Unread = 'malformed' | 'notObject' | 'number' | 'encrypted' | 'wrapper';

/** A draft without its protected settings, which are kept separately, only in the memory of this page. */
export interface ExtensionDraft {
  name: string;
  version: string;
  state: 'enabled' | 'disabled';
  autoUpgradeMinorVersion: boolean;
  dependsOn: string[];
  /** Seconds, as typed. */
  timeouts: Record<HandlerCommand, string>;
  /** The last valid public settings. */
  settings: SettingsObject;
  /** The JSON as typed. */
  text: string;
  /** Why the text is invalid; null if it is valid. */
  unread: Unread | null;
}

/**
 * What applying the draft does to protected settings: `keep` leaves the stored settings unchanged, `remove` removes
 * them, `replace` replaces all of them, and `change` changes some while the others stay.
 */
export type ProtectedDraft =
  | { mode: 'keep' }
  | { mode: 'remove' }
  | { mode: 'replace'; values: unknown; text: string; unread: boolean }
  | {
      mode: 'change';
      set: SettingsObject;
      remove: readonly string[];
      /** Settings whose input is open, even if nothing has been typed. */
      open: readonly string[];
    };

/** Returns protected settings by name, or an empty object if the JSON value is not an object. */
export function namedSecrets(values: unknown): SettingsObject {
  return typeof values === 'object' && values !== null && !Array.isArray(values) ? (values as SettingsObject) : {};
}

/** Whether protected settings are an empty object, which sets nothing. An empty list or string counts as a value. */
export function isEmptySecret(values: unknown): boolean {
  return values === namedSecrets(values) && Object.keys(values).length === 0;
}

export const seconds = 300;

export function printed(settings: SettingsObject): string {
  return JSON.stringify(settings, null, 2);
}

/** Returns the draft of an existing extension. */
export function draftOf(extension: ExtensionView): ExtensionDraft {
  return {
    name: extension.name,
    version: extension.requestedVersion,
    state: extension.state === 'disabled' ? 'disabled' : 'enabled',
    autoUpgradeMinorVersion: extension.autoUpgradeMinorVersion,
    dependsOn: extension.dependsOn,
    timeouts: timeoutsOf(extension.timeouts),
    settings: extension.publicSettings,
    text: printed(extension.publicSettings),
    unread: null,
  };
}

/** Returns the draft of a new extension. */
export function emptyDraft(name: string, version: string): ExtensionDraft {
  return {
    name,
    version,
    state: 'enabled',
    autoUpgradeMinorVersion: false,
    dependsOn: [],
    timeouts: timeoutsOf({}),
    settings: {},
    text: '{}',
    unread: null,
  };
}

function timeoutsOf(timeouts: Partial<Record<HandlerCommand, number>>): Record<HandlerCommand, string> {
  const of = (command: HandlerCommand) => String(timeouts[command] ?? seconds);
  return {
    install: of('install'),
    update: of('update'),
    enable: of('enable'),
    disable: of('disable'),
    uninstall: of('uninstall'),
  };
}

/** Maximum absolute value of a number, because JavaScript may round larger integers. */
const largest = 2 ** 53;

/** Updates the draft from its JSON text. While the text is invalid, keeps the last valid settings. */
export function withText(draft: ExtensionDraft, text: string): ExtensionDraft {
  const value = readSettings(text);
  if (typeof value === 'string') return { ...draft, text, unread: value };
  const wrapped = unwrapWhole(value);
  if (wrapped === null) return { ...draft, text, settings: value, unread: null };
  if (wrapped.faults.length > 0) return { ...draft, text, unread: unreadOf(wrapped.faults) };
  const settings = wrapped.settings.publicSettings ?? {};
  return { ...draft, text: printed(settings), settings, unread: null };
}

/**
 * Extracts the protected settings from a text that has the wrapper of a settings file. Returns null for any other text.
 * `secrets` is absent if the wrapper leaves protected settings unchanged. `withText` extracts the public settings.
 */
export function unwrapSecrets(text: string, hadSecrets: boolean): { secrets?: ProtectedDraft } | null {
  const value = readSettings(text);
  const wrapped = typeof value === 'string' ? null : unwrapWhole(value);
  if (wrapped === null || wrapped.faults.length > 0) return null;
  const { protectedSettings: values } = wrapped.settings;
  if (values === undefined) return {};
  if (values === null) return hadSecrets ? { secrets: { mode: 'remove' } } : {};
  return { secrets: { mode: 'replace', values, text: JSON.stringify(values, null, 2), unread: false } };
}

/** Returns the settings in a text, or why the text is rejected. */
function readSettings(text: string): SettingsObject | Unread {
  try {
    let tooLarge = false;
    const value: unknown = JSON.parse(text, (_, part) => {
      if (typeof part === 'number' && Math.abs(part) > largest) tooLarge = true;
      return part;
    });
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'notObject';
    return tooLarge ? 'number' : (value as SettingsObject);
  } catch {
    return 'malformed';
  }
}

/**
 * Removes the wrapper of a settings file. Returns null if there is no wrapper, or if it has no settings: it may then be
 * a public setting that has the same name as the wrapper.
 */
function unwrapWhole(value: SettingsObject): ReturnType<typeof unwrapSettings> {
  const wrapped = unwrapSettings(value);
  if (wrapped === null) return null;
  const isFull = wrapped.settings.publicSettings !== undefined || wrapped.settings.protectedSettings !== undefined;
  return isFull || wrapped.faults.some(({ code }) => code === 'settings_several') ? wrapped : null;
}

function unreadOf(faults: readonly WrapperFault[]): Unread {
  return faults.some(({ code }) => code === 'settings_encrypted') ? 'encrypted' : 'wrapper';
}

/** Updates the draft and its JSON text from the form. */
export function withSettings(draft: ExtensionDraft, settings: SettingsObject): ExtensionDraft {
  const text = printed(settings);
  return text === printed(draft.settings) ? draft : { ...draft, settings, text, unread: null };
}

/** Converts a draft to the declaration that the API accepts. */
export function goalOf(handler: string, draft: ExtensionDraft, secrets: ProtectedDraft, hadSecrets: boolean): Goal {
  // Sends an empty replacement as null, which the schema may still reject.
  const keeps = hadSecrets && (secrets.mode === 'keep' || secrets.mode === 'change');
  const isEmpty = secrets.mode === 'replace' && isEmptySecret(secrets.values);
  const given = secrets.mode === 'replace' && !isEmpty ? secrets.values : null;
  const timeouts = Object.fromEntries(
    commands.flatMap((command) => {
      const text = draft.timeouts[command].trim();
      // An invalid number is sent too, so that the server reports the error at its field.
      return text === '' ? [] : [[command, Number(text)]];
    }),
  );
  return {
    handler,
    version: draft.version,
    state: draft.state,
    autoUpgradeMinorVersion: draft.autoUpgradeMinorVersion,
    dependsOn: draft.dependsOn,
    timeouts,
    settings: {
      publicSettings: draft.settings,
      ...(!keeps && { protectedSettings: given }),
    },
  };
}

/** Serializes a value with sorted properties, so that their order makes no difference in comparisons. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
