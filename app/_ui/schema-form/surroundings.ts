import { createContext } from 'react';

export type SettingPath = readonly (string | number)[];

/** What the fields of a schema form get from the page. */
export interface Surroundings {
  /** Returns the error message for the setting at this path; undefined if there is none. */
  faultAt(path: SettingPath): string | undefined;
  /** Returns the value before the change as text; undefined if it is unchanged or new. */
  wasAt(path: SettingPath): string | undefined;
  /** Moves the focus to this setting in the JSON, for a setting that the form cannot show. */
  onEditJson(path: SettingPath): void;
}

export const SurroundingsContext = createContext<Surroundings>({
  faultAt: () => undefined,
  wasAt: () => undefined,
  onEditJson: () => undefined,
});
