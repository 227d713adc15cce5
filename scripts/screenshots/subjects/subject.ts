import type { Page } from '@playwright/test';
import type { Speech } from '../speech.ts';
import type { ScreenshotStage } from '../stage.ts';

/** What a screenshot's step gets: the page, texts in the reader's language, and the ids of the data. */
export interface Scene {
  page: Page;
  say: Speech;
  stage: ScreenshotStage;
}

/** A screenshot: its URL, the account that opens it, and a step to perform before it is taken. */
export interface Subject {
  name: string;
  address: string;
  who: 'admin' | 'viewer' | 'guarded' | 'guest';
  act?(scene: Scene): Promise<void>;
  /** Captures the window instead of the whole page, as dialogs and menus need. */
  floats?: boolean;
  /** Whether to skip small widths. */
  isWide?: boolean;
}

export type SubjectAct = NonNullable<Subject['act']>;

export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first();
export const press =
  (...keys: Parameters<Speech>[0][]): SubjectAct =>
  async ({ page, say }) => {
    for (const key of keys) await button(page, say(key)).click();
  };
export const typeKeys =
  (keys: string, text = ''): SubjectAct =>
  async ({ page }) => {
    await page.keyboard.press(keys);
    if (text === '') return;
    await page.locator('[role=combobox]:focus').waitFor();
    await page.keyboard.type(text);
  };
/** Opens a button's menu and selects an item. */
export const choose =
  (menu: Parameters<Speech>, item: Parameters<Speech>[0] | null): SubjectAct =>
  async ({ page, say }) => {
    await button(page, say(...menu)).click();
    if (item !== null) await page.getByRole('menuitem', { name: say(item), exact: true }).click();
  };

/** Returns the address of a VM of the stage, by its name. */
export const vmAddress = (stage: ScreenshotStage, name: string, rest = ''): string => `/vms/${stage.vms[name]}${rest}`;

export function subject(name: string, address: string, act?: SubjectAct, rest: Partial<Subject> = {}): Subject {
  return { name, address, who: 'admin', ...(act && { act }), ...rest };
}
