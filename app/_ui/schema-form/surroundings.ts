import { createContext } from 'react';

export type SettingPath = readonly (string | number)[];

/** What the fields of a schema form receive from outside. */
export interface Surroundings {
  /** The fault of the setting at this path, in words. */
  faultAt(path: SettingPath): string | undefined;
  /** The value before the change, in words; undefined where it is unchanged or new. */
  wasAt(path: SettingPath): string | undefined;
  /** Focuses this setting in the JSON, for what a form cannot show. */
  onEditJson(path: SettingPath): void;
}

export const SurroundingsContext = createContext<Surroundings>({
  faultAt: () => undefined,
  wasAt: () => undefined,
  onEditJson: () => undefined,
});
