'use client';

import { CirclePlay, Pencil, Plus, Rocket } from 'lucide-react';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { mayRunPlans } from '#app/_lib/may-run-plans.ts';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { Tag } from '#app/_ui/tag.tsx';
import { useSeconds } from '#app/(portal)/executions/use-seconds.ts';
import { IdentityAndFacts } from '#app/(portal)/handlers/identity-and-facts.tsx';
import { editHref, type Runbook, type ShownRunbookVersion } from '../runbook-data.ts';
import type { VersionAct } from './version-dialogs.tsx';

export interface RunbookHeaderProps {
  runbook: Runbook;
  version: ShownRunbookVersion;
  onAct(act: VersionAct | 'run'): void;
}

/** The title and the facts of a version, with its actions. */
export function RunbookHeader({ runbook, version, onAct }: RunbookHeaderProps) {
  const { t } = useTranslation('runbooks');
  const inWords = useSeconds();
  return (
    <PageHeader
      title={<span translate="no">{version.title}</span>}
      badge={<Tag>{version.version}</Tag>}
      actions={<Actions {...{ runbook, version, onAct }} />}
    >
      {version.description === '' ? null : (
        <p translate="no" className="mt-1 max-w-[88ch] text-pretty whitespace-pre-line text-ink-2">
          {version.description}
        </p>
      )}
      <IdentityAndFacts
        identity={runbook.name}
        items={[
          { label: t('fact.published'), value: runbook.published ?? t('fact.notPublished') },
          { label: t('fact.timeout'), value: inWords(version.timeoutSeconds) },
          { label: t('fact.validity'), value: inWords(version.validForSeconds) },
        ]}
      />
    </PageHeader>
  );
}

function Actions({ runbook: { name }, version: { version, state }, onAct }: RunbookHeaderProps) {
  const { t } = useTranslation('runbooks');
  const reader = useReader();
  const isDraft = state === 'draft';
  const mayRun = reader.can('operator') && (state === 'published' || (isDraft && mayRunPlans(reader)));
  return (
    <>
      {!reader.scripts ? null : (
        <Button asChild>
          <Link href={editHref(name, isDraft ? version : undefined)}>
            {isDraft ? <Pencil aria-hidden /> : <Plus aria-hidden />}
            {t(isDraft ? 'act.edit' : 'act.newVersion')}
          </Link>
        </Button>
      )}
      {reader.can('operator') && state === 'published' ? (
        <Button asChild>
          <Link href={`/rollouts/new?runbook=${encodeURIComponent(name)}`}>
            <Rocket aria-hidden />
            {t('act.runOnMany')}
          </Link>
        </Button>
      ) : null}
      {mayRun ? (
        <Button variant={isDraft ? 'default' : 'primary'} onClick={() => onAct('run')}>
          <CirclePlay aria-hidden />
          {t('act.run')}
        </Button>
      ) : null}
      {isDraft && reader.scripts ? (
        <Button variant="primary" onClick={() => onAct({ kind: 'publish', version })}>
          {t('act.publish', { version })}
        </Button>
      ) : null}
    </>
  );
}
