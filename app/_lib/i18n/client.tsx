'use client';

import type { FlatNamespace, TFunction } from 'i18next';
import { cloneElement, createContext, Fragment, type ReactElement, type ReactNode, useContext, useMemo } from 'react';
import type { Bundles, WordNamespace } from './namespaces.ts';
import { translate, type Values } from './translate.ts';

interface ClientWords {
  language: string;
  /** The reader's preferred language. Handler messages may be in this language even if the page is not. */
  preferred: string;
  bundles: Bundles;
}

const WordsContext = createContext<ClientWords>({ language: 'en', preferred: 'en', bundles: {} });

interface ProviderProps extends ClientWords {
  children: ReactNode;
}

/** Provides the page's language and the texts that every page needs. */
export function WordsProvider({ language, preferred, bundles, children }: ProviderProps) {
  const value = useMemo(() => ({ language, preferred, bundles }), [language, preferred, bundles]);
  return <WordsContext value={value}>{children}</WordsContext>;
}

/** Adds a page's texts to the texts that the components above provide. */
export function AddWords({ language, bundles, children }: Omit<ProviderProps, 'preferred'>) {
  const above = useContext(WordsContext);
  const value = useMemo(
    () => ({ ...above, language, bundles: { ...above.bundles, ...bundles } }),
    [language, bundles, above],
  );
  return <WordsContext value={value}>{children}</WordsContext>;
}

/** Returns which of these namespaces the components above do not provide. */
export function useMissingWords(namespaces: readonly WordNamespace[]): WordNamespace[] {
  const { bundles } = useContext(WordsContext);
  return namespaces.filter((namespace) => bundles[namespace] === undefined);
}

/** `i18n.language` is a BCP 47 tag. */
interface UsedWords<N extends FlatNamespace | readonly FlatNamespace[]> {
  /** Typed by the English files: `t('title')`, `t('common:close')`, `t('members.count', { count })`. */
  t: TFunction<N>;
  i18n: { language: string };
}

/**
 * Returns texts for a client component. An enclosing `<Words>` must send the namespaces, except `common` and
 * `navigation`, which are always sent.
 */
export function useTranslation<const N extends FlatNamespace | readonly FlatNamespace[] = 'common'>(
  namespaces?: N,
): UsedWords<N> {
  const { language, bundles } = useContext(WordsContext);
  const joined = namespaces === undefined ? 'common' : [namespaces].flat().join();
  return useMemo(() => {
    const list = joined.split(',');
    const t = (key: string, values?: Values) => translate(language, bundles, list, key, values);
    // With i18next's type `TFunction`, the compiler checks keys and placeholders. The cast is safe because callers use
    // only the overload `(key, values)`.
    return { t: t as unknown as TFunction<N>, i18n: { language } };
  }, [language, bundles, joined]);
}

/** Returns the reader's preferred language, a BCP 47 tag. The page's texts may be in another language. */
export function usePreferredLanguage(): string {
  return useContext(WordsContext).preferred;
}

export interface TransProps {
  /** A translated sentence with named tags, such as `t('wait', { name })` for `"<b>{{name}}</b> waits"`. */
  text: string;
  /** The element for each tag, such as `{ b: <b />, link: <TextLink href="…" /> }`. */
  tags: Readonly<Record<string, ReactElement<{ children?: ReactNode }>>>;
}

/** A sentence with markup. Only the elements in `tags` are created, and they do not nest. */
export function Trans({ text, tags }: TransProps) {
  const parts = text.split(/<(\w+)>(.*?)<\/\1>/s);
  return parts.map((part, index) => {
    if (index % 3 === 1) return null;
    const tag = index % 3 === 2 ? tags[parts[index - 1] ?? ''] : undefined;
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence keep their order
    return tag === undefined ? <Fragment key={index}>{part}</Fragment> : cloneElement(tag, { key: index }, part);
  });
}
