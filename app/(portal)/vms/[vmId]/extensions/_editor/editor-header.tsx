'use client';

import { Server } from 'lucide-react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import type { Base } from './use-editing.ts';

export interface EditorHeaderProps {
  vm: { id: string; name: string };
  handler: string;
  version: string;
  base: Base;
  /** Null for a new extension. */
  name: string | null;
}

/** Shows the extension, its handler, and the goal state that the draft is based on. */
export function EditorHeader({ vm, handler, version, base, name }: EditorHeaderProps) {
  const { t } = useTranslation('editor');
  return (
    <PageHeader
      title={name === null ? t('new.title') : <span translate="no">{name}</span>}
      note={
        <span translate="no" className="mono text-ink-3">
          {handler} {version}
        </span>
      }
      actions={
        <span className="flex items-center gap-1.5 text-ink-2">
          <Server aria-hidden className="size-3.5" />
          {t('appliesTo')}
        </span>
      }
    >
      <p className="text-ink-2">
        <Trans
          text={t('goalState', { name: vm.name, incarnation: base.incarnation })}
          tags={{ vm: <TextLink href={`/vms/${vm.id}`} /> }}
        />
        {name === null ? (
          <>
            {' · '}
            <TextLink href={`/vms/${vm.id}/add-extension`}>{t('new.change')}</TextLink>
          </>
        ) : null}
      </p>
    </PageHeader>
  );
}
