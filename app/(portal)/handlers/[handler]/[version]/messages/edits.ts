import type { VersionResources } from '../version-data.ts';

/** A text that was typed and not saved, and what stood there when the typing began. */
export interface Edit {
  text: string;
  base: string;
}

/** Edits of one language by message id. */
export type Edits = Readonly<Record<string, Edit>>;

export interface MergedLanguage {
  /** Resource file of the language: an array of one. Emptied messages are left out. */
  file: unknown[];
  /** Of the language that the edits were put upon; 0 where there is none yet. */
  revision: number;
  /** Ids that somebody else changed meanwhile, to something else. */
  conflicts: string[];
}

const order = new Intl.Collator('en', { numeric: true });

/** Whether somebody else changed the text since the typing began, to something else than was typed. */
export function collides(edit: Edit | undefined, saved: string): boolean {
  return edit !== undefined && edit.base !== saved && edit.text !== saved && edit.text !== edit.base;
}

/** What is left of the edits when some of them were stored: what was typed while they were on their way. */
export function withoutStored(edits: Edits, stored: Edits): Edits {
  return Object.fromEntries(
    Object.entries(edits).flatMap(([id, edit]) => {
      const sent = stored[id];
      if (sent === undefined) return [[id, edit]];
      return sent.text === edit.text ? [] : [[id, { text: edit.text, base: sent.text }]];
    }),
  );
}

/** What is saved with what was typed over it, message by message. */
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
