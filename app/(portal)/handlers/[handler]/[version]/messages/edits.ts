import type { VersionResources } from '../version-data.ts';

/** A text that was typed but not saved, and the text that was saved when typing began. */
export interface Edit {
  text: string;
  base: string;
}

/** Edits of one language by message id. */
export type Edits = Readonly<Record<string, Edit>>;

export interface MergedLanguage {
  /** The resource file of the language: an array of one object. Empty messages are omitted. */
  file: unknown[];
  /** The revision of the language that the edits were merged into; 0 for a new language. */
  revision: number;
  /** Ids of texts for which someone else saved a different value after typing began. */
  conflicts: string[];
}

const order = new Intl.Collator('en', { numeric: true });

/** Whether, after typing began, someone else saved a text that differs from the edit. */
export function collides(edit: Edit | undefined, saved: string): boolean {
  return edit !== undefined && edit.base !== saved && edit.text !== saved && edit.text !== edit.base;
}

/** Returns the edits that were not stored, including text that was typed during the save. */
export function withoutStored(edits: Edits, stored: Edits): Edits {
  return Object.fromEntries(
    Object.entries(edits).flatMap(([id, edit]) => {
      const sent = stored[id];
      if (sent === undefined) return [[id, edit]];
      return sent.text === edit.text ? [] : [[id, { text: edit.text, base: sent.text }]];
    }),
  );
}

/** Merges edits into the saved texts, message by message. */
export function mergeEdits(resources: VersionResources, lang: string, edits: Edits): MergedLanguage {
  const language = resources.languages.find((each) => each.lang === lang);
  const saved = new Map(language?.messages.map(({ id, text }) => [id, text]));
  const conflicts = Object.keys(edits).filter((id) => collides(edits[id], saved.get(id) ?? ''));
  for (const [id, { text, base }] of Object.entries(edits)) if (text !== base) saved.set(id, text);
  const messages = [...saved]
    .filter(([, text]) => text.trim() !== '')
    .sort(([a], [b]) => order.compare(a, b))
    .map(([id, text]) => ({ id, text }));
  return { file: [{ version: 1.0, lang, messages }], revision: language?.revision ?? 0, conflicts };
}
