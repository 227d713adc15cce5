'use client';

import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import type { Version, VersionResources } from './version-data.ts';

const PublishDialog = dynamic(() => import('./publish-dialog.tsx').then((module) => module.PublishDialog), {
  ssr: false,
});

export interface PublishActProps {
  version: Version;
  resources: VersionResources;
  /** Whether messages have unsaved edits. */
  unsaved: boolean;
  /** Whether the schema has unsaved edits. The schema cannot be changed after publishing. */
  unsavedSchema: boolean;
  onPublished(): void;
}

/** A button that opens the dialog for publishing the draft, and a link to what blocks publishing. */
export function PublishAct({ version, resources, unsaved, unsavedSchema, onPublished }: PublishActProps) {
  const { t } = useTranslation('packages');
  const [asked, setAsked] = useState(false);
  const { languages } = resources;
  const blocked = unsaved
    ? { why: t('publish.blocked.unsaved'), where: '#messages' }
    : languages.length > 0 && !languages.some(({ lang }) => lang === 'en')
      ? { why: t('publish.blocked.english'), where: '#messages' }
      : unsavedSchema
        ? { why: t('publish.blocked.schema'), where: '#schema' }
        : undefined;
  return (
    <>
      {blocked ? (
        <a
          href={blocked.where}
          id="publish-blocked"
          className="rounded-xs text-ink-2 underline decoration-line underline-offset-3 hover:text-ink"
        >
          {blocked.why}
        </a>
      ) : null}
      <Button
        variant="primary"
        disabled={blocked !== undefined}
        aria-describedby={blocked ? 'publish-blocked' : undefined}
        onClick={() => setAsked(true)}
      >
        {t('publish.act', { version: version.version })}
      </Button>
      {asked ? (
        <PublishDialog
          version={version}
          resources={resources}
          onPublished={onPublished}
          onClose={() => setAsked(false)}
        />
      ) : null}
    </>
  );
}
