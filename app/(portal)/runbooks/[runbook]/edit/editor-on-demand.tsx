'use client';

import dynamic from 'next/dynamic';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import type { RunbookEditorProps } from './runbook-editor.tsx';

const load = () => import('./runbook-editor.tsx').then((module) => module.RunbookEditor);
// Starts loading the editor as soon as this module is evaluated, before React renders anything.
if (typeof window !== 'undefined') void load();

const Editor = dynamic(load, { ssr: false, loading: EditorLoading });

function EditorLoading() {
  const { t } = useTranslation('common');
  return <SkeletonRows columns={['w-48', 'w-24', 'w-32']} rows={8} label={t('loading')} />;
}

/** The editor, loaded after the page so that the first load stays small. */
export function EditorOnDemand(props: RunbookEditorProps) {
  return <Editor {...props} />;
}
