'use client';

import { useDeferredValue, useEffect, useMemo, useState } from 'react';
import { canonicalLanguage } from '#protocol/language.ts';
import type { VersionResources } from '../version-data.ts';
import { collides, type Edits, withoutStored } from './edits.ts';
import type { MessagesStart } from './start.ts';

/** The messages of a version during editing: saved texts and unsaved edits. */
export interface EditedMessages {
  languages: readonly string[];
  ids: readonly string[];
  textOf(lang: string, id: string): string;
  /** Number of messages without a text, by language. */
  missing: ReadonlyMap<string, number>;
  isChanged(lang: string, id: string): boolean;
  /**
   * Returns a text that someone else saved after typing began, and who last saved the language; undefined if there is
   * no conflict.
   */
  conflictOf(lang: string, id: string): { theirs: string; who: string } | undefined;
  /** Number of unsaved messages by language; languages without unsaved messages are absent. */
  changes: ReadonlyMap<string, number>;
  /** Ids in conflict, by language; languages without conflicts are absent. */
  conflicts: ReadonlyMap<string, readonly string[]>;
  editsOf(lang: string): Edits;
  write(lang: string, id: string, text: string): void;
  /** Resolves a conflict by keeping the edit or the saved text. */
  decide(lang: string, id: string, whose: 'mine' | 'theirs'): void;
  addLanguage(lang: string): void;
  addId(id: string): void;
  /** Removes the edits that were stored, and keeps text that was typed since then. */
  forget(lang: string, stored: Edits): void;
  discard(lang: string): void;
}

const order = new Intl.Collator('en', { numeric: true });
const nothing: Edits = {};

/** Returns a list with the canonical form of a language tag; empty if the tag is absent or invalid. */
function canonical(tag: string | undefined): readonly string[] {
  const lang = tag === undefined ? null : canonicalLanguage(tag);
  return lang === null ? [] : [lang];
}

/** Provides the texts of a version together with the edits made on this page. */
export function useMessages(
  resources: VersionResources,
  onUnsaved: (unsaved: boolean) => void,
  start: MessagesStart,
): EditedMessages {
  const [edits, setEdits] = useState<Readonly<Record<string, Edits>>>({});
  const { saved, languages, ids, addLanguage, addId } = useLanguagesAndIds(resources, start);
  const missing = useMissing(edits, saved, languages, ids);
  const savedText = (lang: string, id: string) => saved.get(lang)?.get(id) ?? '';
  const isChanged = (lang: string, id: string): boolean => {
    const edit = edits[lang]?.[id];
    return edit !== undefined && edit.text !== edit.base && edit.text !== savedText(lang, id);
  };
  const changes = new Map([...idsPerLanguage(edits, isChanged)].map(([lang, found]) => [lang, found.length]));
  useUnsavedWarning(changes.size > 0, onUnsaved);
  const put = (lang: string, id: string, edit: Edits[string] | undefined) =>
    setEdits((current) => {
      const { [id]: _, ...others } = current[lang] ?? nothing;
      return { ...current, [lang]: edit === undefined ? others : { ...others, [id]: edit } };
    });
  return {
    languages,
    ids,
    // A reverted edit shows the saved text, which someone else may have changed.
    textOf: (lang, id) => {
      const edit = edits[lang]?.[id];
      return edit === undefined || edit.text === edit.base ? savedText(lang, id) : edit.text;
    },
    missing,
    isChanged,
    conflictOf: (lang, id) => {
      if (!collides(edits[lang]?.[id], savedText(lang, id))) return undefined;
      const language = resources.languages.find((each) => each.lang === lang);
      return { theirs: savedText(lang, id), who: language?.updatedBy ?? '' };
    },
    changes,
    conflicts: idsPerLanguage(edits, (lang, id) => collides(edits[lang]?.[id], savedText(lang, id))),
    editsOf: (lang) => edits[lang] ?? nothing,
    write: (lang, id, text) => put(lang, id, { text, base: edits[lang]?.[id]?.base ?? savedText(lang, id) }),
    decide: (lang, id, whose) => {
      const edit = edits[lang]?.[id];
      if (edit !== undefined) put(lang, id, whose === 'mine' ? { ...edit, base: savedText(lang, id) } : undefined);
    },
    addLanguage,
    addId,
    forget: (lang, stored) =>
      setEdits((current) => ({ ...current, [lang]: withoutStored(current[lang] ?? nothing, stored) })),
    discard: (lang) => setEdits(({ [lang]: _, ...others }) => others),
  };
}

type SavedTexts = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Returns the saved texts by language and id, and the table's languages and ids, both saved and added on this page. */
function useLanguagesAndIds(resources: VersionResources, start: MessagesStart) {
  const [addedLanguages, setAddedLanguages] = useState(() => canonical(start.message?.lang ?? start.missing));
  const [addedIds, setAddedIds] = useState<readonly string[]>(start.message ? [start.message.id] : []);
  const saved: SavedTexts = useMemo(
    () =>
      new Map(resources.languages.map(({ lang, messages }) => [lang, new Map(messages.map((m) => [m.id, m.text]))])),
    [resources],
  );
  const languages = useMemo(() => {
    const all = new Set([...saved.keys(), ...addedLanguages]);
    return all.size === 0 ? ['en'] : [...all].sort((a, b) => Number(b === 'en') - Number(a === 'en'));
  }, [saved, addedLanguages]);
  const ids = useMemo(() => {
    const all = new Set(addedIds);
    for (const messages of saved.values()) for (const id of messages.keys()) all.add(id);
    return [...all].sort(order.compare);
  }, [saved, addedIds]);
  return {
    saved,
    languages,
    ids,
    addLanguage: (lang: string) => setAddedLanguages((current) => [...new Set([...languages, ...current, lang])]),
    addId: (id: string) => setAddedIds((current) => [...new Set([...current, id])]),
  };
}

/** Counts messages without a text, by language. Uses a deferred value, so that typing stays responsive. */
function useMissing(
  edits: Readonly<Record<string, Edits>>,
  saved: SavedTexts,
  languages: readonly string[],
  ids: readonly string[],
): ReadonlyMap<string, number> {
  const settled = useDeferredValue(edits);
  return useMemo(() => {
    const isBlank = (lang: string, id: string) =>
      (settled[lang]?.[id]?.text ?? saved.get(lang)?.get(id) ?? '').trim() === '';
    return new Map(languages.map((lang) => [lang, ids.filter((id) => isBlank(lang, id)).length]));
  }, [settled, saved, languages, ids]);
}

function useUnsavedWarning(unsaved: boolean, onUnsaved: (unsaved: boolean) => void): void {
  useEffect(() => onUnsaved(unsaved), [unsaved, onUnsaved]);
  useEffect(() => {
    if (!unsaved) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [unsaved]);
}

/** Returns the ids of matching edits by language. Languages without matching edits are absent. */
function idsPerLanguage(
  edits: Readonly<Record<string, Edits>>,
  fits: (lang: string, id: string) => boolean,
): ReadonlyMap<string, readonly string[]> {
  return new Map(
    Object.entries(edits).flatMap(([lang, texts]) => {
      const found = Object.keys(texts).filter((id) => fits(lang, id));
      return found.length === 0 ? [] : [[lang, found] as const];
    }),
  );
}
