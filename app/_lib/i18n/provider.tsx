'use client';

import { type ReactNode, useState } from 'react';
import { I18nextProvider, initReactI18next, useTranslation } from 'react-i18next';
import { createWords } from './create.ts';
import type { Bundles } from './namespaces.ts';

interface ProviderProps {
  language: string;
  bundles: Bundles;
  children: ReactNode;
}

/** Holds this tab's words. A change of language makes a new instance; everything below is drawn anew with it. */
export function WordsProvider({ language, bundles, children }: ProviderProps) {
  const make = () => createWords(language, bundles, (instance) => instance.use(initReactI18next));
  const [instance, setInstance] = useState(make);
  if (instance.language !== language) setInstance(make());
  return <I18nextProvider i18n={instance}>{children}</I18nextProvider>;
}

/** Adds a page's namespaces before its children are drawn. Idempotent, so that it may happen while rendering. */
export function AddWords({ language, bundles, children }: ProviderProps) {
  const { i18n } = useTranslation();
  for (const [namespace, bundle] of Object.entries(bundles)) {
    if (!i18n.hasResourceBundle(language, namespace)) i18n.addResourceBundle(language, namespace, bundle);
  }
  return children;
}
