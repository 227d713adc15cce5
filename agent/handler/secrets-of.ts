import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type GoalState, type GoalStateExtension, settingsFile } from '#protocol/index.ts';
import { sentenceOf } from '../agent-error.ts';
import type { AgentLayout } from '../folder/layout.ts';
import { readTextBelow } from '../folder/shared-files.ts';
import { openSealed } from '../identity/open-sealed.ts';
import type { Journal } from '../journal.ts';
import { foldersOf } from './folders.ts';
import { maskedTexts } from './mask.ts';

/** Maximum size of a settings file that is read. Settings in a goal state are smaller. */
const maxSettingsBytes = 8 * 1024 * 1024;
const settingsName = /^(?:([\w.-]+)\.)?(\d+)\.settings$/;

type SealedPart = Pick<GoalStateExtension['settings'], 'protectedSettings' | 'protectedSettingsCertThumbprint'>;

/**
 * Returns a handler's secrets: the protected settings in all its settings files, and those in the goal state, since
 * some handlers empty their files after reading them.
 */
export function secretsOf(
  layout: AgentLayout,
  configFolders: string[],
  goal: GoalState | null,
  journal: Journal,
): string[] {
  const given = goal?.extensions.filter(({ handler, version }) =>
    configFolders.includes(foldersOf(layout, handler, version).configFolder),
  );
  const files = configFolders.flatMap(settingsFilesIn).map((file) => ({ where: file, read: () => sealedPartOf(file) }));
  const goals = (given ?? []).map(({ name, settings }) => ({
    where: `${name} in the goal state`,
    read: () => settings,
  }));
  const texts = new Set<string>();
  for (const { where, read } of [...files, ...goals]) {
    try {
      const { protectedSettings, protectedSettingsCertThumbprint }: SealedPart = read();
      if (protectedSettings === undefined || protectedSettingsCertThumbprint === undefined) continue;
      for (const text of maskedTexts(openSealed(layout, protectedSettingsCertThumbprint, protectedSettings))) {
        texts.add(text);
      }
    } catch (error) {
      journal.warn(`${where} cannot be decrypted, so its values are not masked in output: ${sentenceOf(error)}.`);
    }
  }
  return [...texts];
}

/** Returns the encrypted settings in a file and the thumbprint of their key; each is undefined if the file lacks it. */
export function sealedPartOf(file: string): SealedPart {
  const parsed = settingsFile.safeParse(jsonIn(readTextBelow(dirname(dirname(file)), file, maxSettingsBytes)));
  if (!parsed.success) return {};
  const { protectedSettings, protectedSettingsCertThumbprint } = parsed.data.handlerSettings;
  const isSealed = /^[A-Za-z0-9+/=]+$/.test(protectedSettings ?? '');
  return {
    // Some handlers replace the value with a word such as REDACTED.
    protectedSettings: isSealed ? (protectedSettings ?? undefined) : undefined,
    protectedSettingsCertThumbprint: protectedSettingsCertThumbprint ?? undefined,
  };
}

function jsonIn(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}

/** Returns the paths of the settings files in a handler's `config` folder. */
export function settingsFilesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => settingsName.test(name))
    .map((name) => join(folder, name));
}

/** Returns the current settings files: those with the highest sequence number of each extension (AZ-C4). */
export function settingsInForce(folder: string): string[] {
  const highest = new Map<string, { number: number; file: string }>();
  for (const file of settingsFilesIn(folder)) {
    const [, extension = '', digits = ''] = settingsName.exec(file.slice(folder.length + 1)) ?? [];
    const number = Number(digits);
    if (number >= (highest.get(extension)?.number ?? -1)) highest.set(extension, { number, file });
  }
  return [...highest.values()].map(({ file }) => file);
}
