import { createContext } from 'react';

export type SettingPath = readonly (string | number)[];

/** What the fields of a schema form know from outside. */
export interface Surroundings {
  /** What is wrong with the setting at this path, in words. */
  faultAt(path: SettingPath): string | undefined;
  /** What the setting was before it was changed here, in words; undefined where it is unchanged or new. */
  wasAt(path: SettingPath): string | undefined;
  /** Puts the keyboard into the JSON at this setting, for what a form cannot show. */
  onEditJson(path: SettingPath): void;
}

export const SurroundingsContext = createContext<Surroundings>({
  faultAt: () => undefined,
  wasAt: () => undefined,
  onEditJson: () => undefined,
});
