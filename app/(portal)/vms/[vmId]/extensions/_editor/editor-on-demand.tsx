'use client';

import dynamic from 'next/dynamic';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { EditorProps } from './editor.tsx';
import { EditorSkeleton } from './editor-skeleton.tsx';

const load = () => import('./editor.tsx').then((module) => module.Editor);
// Starts loading the editor as soon as this module is evaluated, before React renders anything.
if (typeof window !== 'undefined') void load();

const Editor = dynamic(load, { ssr: false, loading: EditorLoading });

function EditorLoading() {
  const { t } = useTranslation('common');
  return <EditorSkeleton label={t('loading')} />;
}

/** The editor, loaded after the page so that the first load stays small. */
export function EditorOnDemand(props: EditorProps) {
  return <Editor {...props} />;
}
