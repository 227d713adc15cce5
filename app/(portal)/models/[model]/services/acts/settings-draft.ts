import type { SettingsObject } from '#app/_ui/schema-form/form.tsx';
import {
  canonical,
  emptyDraft,
  isEmptySecret,
  namedSecrets,
  type ProtectedDraft,
  printed,
  type Unread,
  withText,
} from '#app/(portal)/vms/[vmId]/extensions/_editor/draft.ts';

/** Settings of a service while they are edited. Protected settings are only in the memory of the page. */
export interface SettingsDraft {
  /** The last valid settings. */
  settings: SettingsObject;
  /** The JSON as typed. */
  text: string;
  /** Why the text is invalid; null if it is valid. */
  unread: Unread | null;
  secrets: ProtectedDraft;
}

/** Returns the draft of these settings. */
export const settingsDraft = (settings: SettingsObject): SettingsDraft => ({
  settings,
  text: printed(settings),
  unread: null,
  secrets: { mode: 'keep' },
});

/** The request for the settings of a service. */
export interface SettingsRead<Details> {
  data: Details | undefined;
  isSuccess: boolean;
  /** Whether the request has ended since the dialog opened. */
  isFetchedAfterMount: boolean;
}

/** Returns the settings that are stored now; undefined while or if only those that an earlier page loaded are known. */
export const storedNow = <Details>({ data, isSuccess, isFetchedAfterMount }: SettingsRead<Details>) =>
  isSuccess && isFetchedAfterMount ? data : undefined;

/** Updates the draft from the form. */
export const withFormSettings = (draft: SettingsDraft, settings: SettingsObject): SettingsDraft => ({
  ...draft,
  settings,
  text: printed(settings),
  unread: null,
});

/** Updates the draft from its JSON. While the text is invalid, keeps the last valid settings. */
export function withJsonText(draft: SettingsDraft, typed: string): SettingsDraft {
  const { settings, text, unread } = withText({ ...emptyDraft('', ''), settings: draft.settings }, typed);
  return { ...draft, settings, text, unread };
}

/** Whether the draft can be sent: both its JSON and its protected settings can be read. */
export const isReadable = ({ unread, secrets }: SettingsDraft): boolean =>
  unread === null && !(secrets.mode === 'replace' && secrets.unread);

/** Whether the draft changes anything. */
export const isChanged = (draft: SettingsDraft, before: SettingsObject): boolean =>
  canonical(draft.settings) !== canonical(before) || protectedOf(draft).protectedSettings !== undefined;

/** Returns what a request says about protected settings: nothing, that they are removed, or all of them. */
export function protectedOf({ secrets }: Pick<SettingsDraft, 'secrets'>): {
  protectedSettings?: SettingsObject | null;
} {
  if (secrets.mode === 'remove') return { protectedSettings: null };
  if (secrets.mode !== 'replace' || isEmptySecret(secrets.values)) return {};
  return { protectedSettings: namedSecrets(secrets.values) };
}
