'use client';

import { useDeferredValue, useEffect, useMemo, useState } from 'react';
import { canonicalLanguage } from '#protocol/language.ts';
import type { VersionResources } from '../version-data.ts';
import { collides, type Edits, withoutStored } from './edits.ts';
import type { Start } from './start.ts';

/** Messages of a version while they are edited: what is saved, and what was typed over it. */
export interface Messages {
  languages: readonly string[];
  ids: readonly string[];
  textOf(lang: string, id: string): string;
  /** Messages without a text, by language. */
  missing: ReadonlyMap<string, number>;
  isChanged(lang: string, id: string): boolean;
  /** What somebody else saved under a text that was typed here. */
  conflictOf(lang: string, id: string): { theirs: string; who: string } | undefined;
  /** Number of messages that were typed and not saved, by language; without those that have none. */
  changes: ReadonlyMap<string, number>;
  /** Ids that wait for a decision, by language; without those that have none. */
  conflicts: ReadonlyMap<string, readonly string[]>;
  editsOf(lang: string): Edits;
  write(lang: string, id: string, text: string): void;
  /** Decides a conflict: what was typed here goes over what somebody else saved, or is forgotten. */
  decide(lang: string, id: string, whose: 'mine' | 'theirs'): void;
  addLanguage(lang: string): void;
  addId(id: string): void;
  /** Forgets what was stored, and keeps what was typed meanwhile. */
  forget(lang: string, stored: Edits): void;
  /** Forgets what was typed in this language. */
  discard(lang: string): void;
}

const order = new Intl.Collator('en', { numeric: true });
const nothing: Edits = {};

/** A language that an address names, if it is one. */
function canonical(tag: string | undefined): readonly string[] {
  const lang = tag === undefined ? null : canonicalLanguage(tag);
  return lang === null ? [] : [lang];
}

export function useMessages(
  resources: VersionResources,
  onUnsaved: (unsaved: boolean) => void,
  start: Start,
): Messages {
  const [edits, setEdits] = useState<Readonly<Record<string, Edits>>>({});
  const [addedLanguages, setAddedLanguages] = useState(() => canonical(start.message?.lang ?? start.missing));
  const [addedIds, setAddedIds] = useState<readonly string[]>(start.message ? [start.message.id] : []);

  const saved = useMemo(
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

  // Typing must not wait for the counting.
  const settled = useDeferredValue(edits);
  const missing = useMemo(() => {
    const isBlank = (lang: string, id: string) =>
      (settled[lang]?.[id]?.text ?? saved.get(lang)?.get(id) ?? '').trim() === '';
    return new Map(languages.map((lang) => [lang, ids.filter((id) => isBlank(lang, id)).length]));
  }, [settled, saved, languages, ids]);

  const savedText = (lang: string, id: string) => saved.get(lang)?.get(id) ?? '';
  const changed = (lang: string, id: string): boolean => {
    const edit = edits[lang]?.[id];
    return edit !== undefined && edit.text !== edit.base && edit.text !== savedText(lang, id);
  };
  const idsPerLanguage = (wanted: (lang: string, id: string) => boolean) =>
    new Map(
      Object.entries(edits).flatMap(([lang, texts]) => {
        const found = Object.keys(texts).filter((id) => wanted(lang, id));
        return found.length === 0 ? [] : [[lang, found] as const];
      }),
    );
  const changes = new Map([...idsPerLanguage(changed)].map(([lang, found]) => [lang, found.length]));
  const conflicts = idsPerLanguage((lang, id) => collides(edits[lang]?.[id], savedText(lang, id)));
  const unsaved = changes.size > 0;
  useEffect(() => onUnsaved(unsaved), [unsaved, onUnsaved]);
  useEffect(() => {
    if (!unsaved) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [unsaved]);

  const put = (lang: string, id: string, edit: Edits[string] | undefined) =>
    setEdits((current) => {
      const { [id]: _, ...others } = current[lang] ?? nothing;
      return { ...current, [lang]: edit === undefined ? others : { ...others, [id]: edit } };
    });

  return {
    languages,
    ids,
    // What was typed and taken back shows what is saved, whoever saved it.
    textOf: (lang, id) => {
      const edit = edits[lang]?.[id];
      return edit === undefined || edit.text === edit.base ? savedText(lang, id) : edit.text;
    },
    missing,
    isChanged: changed,
    conflictOf: (lang, id) => {
      if (!collides(edits[lang]?.[id], savedText(lang, id))) return undefined;
      const language = resources.languages.find((each) => each.lang === lang);
      return { theirs: savedText(lang, id), who: language?.updatedBy ?? '' };
    },
    changes,
    conflicts,
    editsOf: (lang) => edits[lang] ?? nothing,
    write: (lang, id, text) => put(lang, id, { text, base: edits[lang]?.[id]?.base ?? savedText(lang, id) }),
    decide: (lang, id, whose) => {
      const edit = edits[lang]?.[id];
      if (edit !== undefined) put(lang, id, whose === 'mine' ? { ...edit, base: savedText(lang, id) } : undefined);
    },
    addLanguage: (lang) => setAddedLanguages((current) => [...new Set([...languages, ...current, lang])]),
    addId: (id) => setAddedIds((current) => [...new Set([...current, id])]),
    forget: (lang, stored) =>
      setEdits((current) => ({ ...current, [lang]: withoutStored(current[lang] ?? nothing, stored) })),
    discard: (lang) => setEdits(({ [lang]: _, ...others }) => others),
  };
}
