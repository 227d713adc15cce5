import type { Database, Transaction } from '#db/client.ts';
import type { SettingsSchema } from '#db/schema/index.ts';
import type { WantedLanguage } from '#protocol/index.ts';
import { outlineSchema } from '#server/domain/packages/index.ts';
import { findMessages } from './find-messages.ts';
import { localizeMessage } from './message.ts';

const kinds = ['title', 'description'] as const;

/** The title and the description of a setting, in the reader's language. */
export type SettingWords = { [Kind in (typeof kinds)[number]]?: string };

/** Returns the id of a resource that is the title or the description of the setting at this JSON pointer. */
export const settingWordId = (pointer: string, kind: (typeof kinds)[number]): string => `settings.${pointer}.${kind}`;

/** Whether a resource is the title or the description of a setting. No handler reports such an id as a message. */
export const isSettingWord = (id: string): boolean =>
  /^settings\.\/(?:publicSettings|protectedSettings)(?:\/.*)?\.(?:title|description)$/s.test(id);

/**
 * Returns the titles and descriptions in a schema as messages, so that they can be translated. Braces are doubled,
 * because single braces in a message enclose placeholders.
 */
export function messagesOfSchema(schema: SettingsSchema | null): { id: string; text: string }[] {
  return [...outlineSchema(schema).words].flatMap(([pointer, words]) =>
    kinds.flatMap((kind) => {
      const text = words[kind]?.replaceAll(/[{}]/g, '$&$&');
      return text === undefined ? [] : [{ id: settingWordId(pointer, kind), text }];
    }),
  );
}

export interface DescribedSettings {
  handler: string;
  version: string;
  settingsSchema: SettingsSchema | null;
}

/**
 * Returns the translated titles and descriptions of settings by JSON pointer, such as `/publicSettings/port`. Each is
 * looked up like a message. Settings without a translation are omitted; readers then see the text in the schema.
 */
export async function describeSettings(
  db: Database | Transaction,
  { handler, version, settingsSchema }: DescribedSettings,
  wanted: readonly WantedLanguage[],
): Promise<Record<string, SettingWords>> {
  if (settingsSchema === null) return {};
  const pointers = [...outlineSchema(settingsSchema).settings];
  const ids = pointers.flatMap((pointer) => kinds.map((kind) => settingWordId(pointer, kind)));
  const found = await findMessages(db, [{ handler, version, ids }], wanted);
  const resources = found.get(`${handler}-${version}`) ?? new Map();
  const words = pointers.map((pointer) => {
    const texts = kinds.flatMap((kind) => {
      const message = { id: settingWordId(pointer, kind), params: [] };
      const text = localizeMessage({ message, resources, wanted });
      return text?.source === 'resource' ? [[kind, text.text] as const] : [];
    });
    return [pointer, Object.fromEntries(texts)] as const;
  });
  return Object.fromEntries(words.filter(([, texts]) => Object.keys(texts).length > 0));
}
