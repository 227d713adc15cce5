'use client';

import { useDeferredValue, useEffect, useMemo, useState } from 'react';
import { canonicalLanguage } from '#protocol/language.ts';
import type { VersionResources } from '../version-data.ts';
import type { Start } from './start.ts';

type Texts = Readonly<Record<string, string>>;

/** Messages of a version while they are edited: what is saved, and what was typed over it. */
export interface Messages {
  languages: readonly string[];
  ids: readonly string[];
  textOf(lang: string, id: string): string;
  /** Messages without a text, by language. */
  missing: ReadonlyMap<string, number>;
  isChanged(lang: string, id: string): boolean;
  /** Number of messages that were typed and not saved, by language; without those that have none. */
  changes: ReadonlyMap<string, number>;
  write(lang: string, id: string, text: string): void;
  addLanguage(lang: string): void;
  addId(id: string): void;
  /** Forgets what was typed in this language. */
  discard(lang: string): void;
  /** The language as a resource file: an array of one. Emptied messages are left out. */
  fileOf(lang: string): unknown[];
}

const order = new Intl.Collator('en', { numeric: true });
const nothing: Texts = {};

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
  const [edits, setEdits] = useState<Readonly<Record<string, Texts>>>({});
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

  // Scrolling asks for it at every frame, and typing must not wait for it.
  const settled = useDeferredValue(edits);
  const missing = useMemo(() => {
    const isBlank = (lang: string, id: string) => (settled[lang]?.[id] ?? saved.get(lang)?.get(id) ?? '').trim() === '';
    return new Map(languages.map((lang) => [lang, ids.filter((id) => isBlank(lang, id)).length]));
  }, [settled, saved, languages, ids]);

  const savedText = (lang: string, id: string) => saved.get(lang)?.get(id) ?? '';
  const changedIn = (lang: string) =>
    Object.entries(edits[lang] ?? nothing).filter(([id, text]) => text !== savedText(lang, id));
  const changes = new Map(
    Object.keys(edits).flatMap((lang) => {
      const count = changedIn(lang).length;
      return count === 0 ? [] : [[lang, count] as const];
    }),
  );
  const unsaved = changes.size > 0;
  useEffect(() => onUnsaved(unsaved), [unsaved, onUnsaved]);
  useEffect(() => {
    if (!unsaved) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [unsaved]);

  return {
    languages,
    ids,
    textOf: (lang, id) => edits[lang]?.[id] ?? savedText(lang, id),
    missing,
    isChanged: (lang, id) => (edits[lang]?.[id] ?? savedText(lang, id)) !== savedText(lang, id),
    changes,
    write: (lang, id, text) =>
      setEdits((current) => ({ ...current, [lang]: { ...(current[lang] ?? nothing), [id]: text } })),
    addLanguage: (lang) => setAddedLanguages((current) => [...new Set([...languages, ...current, lang])]),
    addId: (id) => setAddedIds((current) => [...new Set([...current, id])]),
    discard: (lang) => setEdits(({ [lang]: _, ...others }) => others),
    fileOf: (lang) => {
      const texts = new Map([...(saved.get(lang) ?? []), ...Object.entries(edits[lang] ?? nothing)]);
      const messages = [...texts]
        .filter(([, text]) => text.trim() !== '')
        .sort(([a], [b]) => order.compare(a, b))
        .map(([id, text]) => ({ id, text }));
      return [{ version: 1.0, lang, messages }];
    },
  };
}
